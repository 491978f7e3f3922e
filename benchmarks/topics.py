"""Hundreds of topics: `python -m benchmarks topics`, ours beside `svds`, NMF and LDA, from 25 to 1,000 topics.

Nine in ten documents are fitted. Of these are the NPMI of ten words, as they are shown (`components_` of `TopicModel`),
and the NMI of the largest weight with the classes; the last tenth has the held-out log-likelihood per token, where the
second half of each document is predicted from the first. Topics of weighted words are divided by the weights of the
words for it. Coh is the paper's coherence of twenty words. `planted` are the topics that the documents were drawn from.
"> 90" is a fit that took longer than these processor seconds (of all its threads), "with fewer" one that was left out,
since fewer topics did.
"""

from __future__ import annotations

import os
import warnings
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import stored, work
from benchmarks.corpora import SYNTHETIC, title
from benchmarks.models import MODELS as COMMON_MODELS
from benchmarks.models import Estimator, Model, nmf
from benchmarks.running import corpus_of, designs_of, fastest, topics_of
from experiments.results import Values, markdown_table

CORPORA, QUICK_CORPORA = ("tdt2", "newsgroups", "synthetic-large"), ("synthetic-small",)
TOPICS, QUICK_TOPICS = (25, 50, 100, 200, 500, 1000), (5, 10)
HOLD_OUT_EVERY = 10
GROWTH_FROM = 50
TOPICA_ITERATIONS = 200
MEASURES = {"npmi": 3, "coh": 0, "diversity": 3, "nmi": 3, "heldout": 3}  # with the digits that are shown


class TopicaLda:
    """topica's LDA with its fastest sampler, on all cores."""

    package, data, shares = "topica", "counts", True
    settings = f"topica LDA, sampler warp, {TOPICA_ITERATIONS} iterations, all cores"

    def prepare(self, X: Any, K: int) -> Any:
        """Return a list of words per document; topica drops documents without one."""
        X, names = X.tocsr(), np.arange(X.shape[1]).astype(str).astype(object)
        counts = X.data.astype(int)
        bounds = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        texts = [np.repeat(names[X.indices[a:b]], counts[a:b]).tolist() for a, b in bounds]
        return texts, np.array([bool(text) for text in texts])

    def fit(self, documents: Any, K: int) -> Any:
        """Return the fitted model."""
        import topica

        texts, held = documents
        model = topica.LDA(K, sampler="warp", num_threads=os.cpu_count() or 1, seed=0)
        model.fit(
            [text for text, there in zip(texts, held, strict=True) if there],
            iters=TOPICA_ITERATIONS,
            num_samples=1,
            keep_theta_draws=False,
        )
        return model

    def transform(self, model: Any, documents: Any) -> Any:
        """Return the shares of the topics; a document without a word has none."""
        _, held = documents
        W = np.zeros((len(held), model.num_topics))
        W[held] = model.doc_topic
        return W

    def components(self, model: Any, n_words: int) -> Any:
        """Return the topics, its words in the order of the columns."""
        C = np.zeros((model.num_topics, n_words))
        C[:, [int(word) for word in model.vocabulary]] = model.topic_word
        return C


class OurTopicModel:
    """`TopicModel`: weighting, AnchorFree and the token model."""

    package, data, shares = "anchorless", "counts", True
    settings = "TopicModel with its token model, as it comes"

    def prepare(self, X: Any, K: int) -> Any:
        """Return the counts as they are."""
        return X

    def fit(self, documents: Any, K: int) -> Any:
        """Return the fitted model."""
        from anchorless import TopicModel

        return TopicModel(K).fit_counts(documents, [str(v) for v in range(documents.shape[1])])

    def transform(self, model: Any, documents: Any) -> Any:
        """Return the mixtures, which the fit has found."""
        return model.document_topics_

    def components(self, model: Any, n_words: int) -> Any:
        """Return p(word | topic)."""
        return model.topic_word_

    def rank_words(self, model: Any, n_words: int) -> Any:
        """Return the relevance by which words are shown."""
        return model.components_


def make_converged(K: int) -> Any:
    """Return ours with the volume maximized to the end."""
    from anchorless import AnchorFree

    return AnchorFree(K, tol=1e-6)


def make_minibatch_nmf(K: int) -> Any:
    """Return scikit-learn's NMF by batches."""
    from sklearn.decomposition import MiniBatchNMF

    return MiniBatchNMF(K, random_state=0)


MODELS: dict[str, Model] = {
    "anchorfree": COMMON_MODELS["anchorfree"],
    "topic-model": OurTopicModel(),
    "converged": Estimator("anchorless", "weighted", False, "AnchorFree with tol=1e-6", make_converged),
    "nmf": Estimator("sklearn", "weighted", False, COMMON_MODELS["nmf"].settings, nmf),
    "minibatch-nmf": Estimator("sklearn", "weighted", False, "scikit-learn MiniBatchNMF", make_minibatch_nmf),
    "tomotopy-lda": COMMON_MODELS["tomotopy-lda"],
    "topica-lda": TopicaLda(),
}
PLANTED = "planted"  # nothing is fitted: how good the true topics are
METHODS = ("svds", *MODELS, PLANTED)


def choose_sizes(options: Namespace) -> tuple[int, ...]:
    """Return the numbers of topics that are asked for."""
    return tuple(options.topics or (QUICK_TOPICS if options.quick else TOPICS))


def measure(job: work.Job) -> dict[str, float]:
    """Return what a fit costs and how good its topics are; `svds` only decomposes the documents that are fitted."""
    fitted, rest = split_documents(stored.load_matrix(job.corpus, "counts", Path(job.folder)).shape[0])
    if job.method == "svds":
        with work.limit_processor_time(job.budget):
            return decompose(stored.load_matrix(job.corpus, "weighted", Path(job.folder))[fitted], job.topics)
    if job.method == PLANTED:
        return measure_planted(job, fitted, rest)
    method = MODELS[job.method]
    X = stored.load_matrix(job.corpus, method.data, Path(job.folder))[fitted]
    work.warm_up(method)
    documents, start = method.prepare(X, job.topics), work.peak_mb()
    with warnings.catch_warnings(), work.limit_processor_time(job.budget):
        warnings.simplefilter("ignore")
        seconds, model = work.time_call(lambda: method.fit(documents, job.topics))
    found = work.seconds_of("fit", seconds) | {"start_mb": start, "peak_mb": work.peak_mb()}
    W, C = method.transform(model, documents), method.components(model, X.shape[1])
    found |= measure_quality(job, method, np.asarray(W), np.asarray(C), fitted, rest)
    shown = getattr(method, "rank_words", method.components)(model, X.shape[1])
    return found | measure_words(np.asarray(shown), stored.load_draw(job.corpus, Path(job.folder)).counts[fitted])


def decompose(X: Any, K: int) -> dict[str, float]:
    """Return what the truncated singular value decomposition of X costs."""
    from scipy.sparse.linalg import svds

    svds(work.few_documents(), work.WARM_UP_TOPICS, random_state=0)
    start = work.peak_mb()
    seconds, _ = work.time_call(lambda: svds(X, K, random_state=0))
    return work.seconds_of("fit", seconds) | {"start_mb": start, "peak_mb": work.peak_mb()}


def has_planted(corpus: str, K: int) -> bool:
    """Return whether a corpus was sampled from K topics."""
    return corpus in SYNTHETIC and SYNTHETIC[corpus].n_topics == K


def measure_planted(job: work.Job, fitted: Any, rest: Any) -> dict[str, float]:
    """Return the measures of the planted topics but NMI: the classes are the largest planted shares."""
    from anchorless.datasets import sampled_corpus

    corpus = sampled_corpus(*SYNTHETIC[job.corpus])
    C = np.asarray(corpus.components)
    found = measure_quality(job, MODELS["topic-model"], np.asarray(corpus.weights)[fitted], C, fitted, rest)
    del found["nmi"]
    return found | measure_words(C, corpus.counts.tocsr()[fitted])


def split_documents(n_documents: int) -> tuple[Any, Any]:
    """Return the positions of the documents to fit and of those to hold out."""
    held_out = np.arange(n_documents) % HOLD_OUT_EVERY == HOLD_OUT_EVERY - 1
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


def measure_quality(job: work.Job, method: Model, W: Any, C: Any, fitted: Any, rest: Any) -> dict[str, float]:
    """Return the measures of weights W (n, K) and topics C (K, V), which are not negative."""
    from sklearn.metrics import normalized_mutual_info_score

    from anchorless import TfidfWeighting, metrics
    from experiments.corpora_fits import probabilities

    drawn = stored.load_draw(job.corpus, Path(job.folder))
    topics, totals = probabilities(C)
    largest = (W if method.shares else W * totals * np.linalg.norm(topics, axis=1)).argmax(axis=1)
    idf = np.ones(C.shape[1]) if method.data == "counts" else TfidfWeighting().fit(drawn.counts).idf_
    tokens = np.divide(topics, idf, out=np.zeros_like(topics), where=idf > 0)  # a word of all documents has no weight
    background = np.asarray(drawn.counts[fitted].sum(axis=0)).ravel() + 1e-9
    completion = metrics.document_completion(tokens, drawn.counts[rest], background=background)
    return {
        "nmi": float(normalized_mutual_info_score(drawn.labels[fitted], largest)),
        "heldout": float(completion.log_likelihood),
        "unigram": float(completion.unigram),
    }


def measure_words(ranking: Any, counts: Any) -> dict[str, float]:
    """Return the measures of the ten or twenty words of each topic with the largest entries in its row (K, V)."""
    from anchorless import metrics
    from experiments.corpora_fits import probabilities

    topics, n_words = probabilities(ranking)[0], min(10, ranking.shape[1])
    return {
        "npmi": float(metrics.npmi(topics, counts, n_words=n_words).mean()),
        "coh": float(metrics.coherence(topics, counts, n_words=min(20, ranking.shape[1])).mean()),
        "diversity": float(metrics.topic_diversity(topics, n_words)),
    }


def topic_tables(values: Values) -> Iterator[str]:
    """Yield a table per corpus."""
    designs = designs_of(values, "topics")
    if not designs:
        return
    yield "## Hundreds of topics"
    yield "\n".join(f"* `{name}`: {model.settings}; {model.data}" for name, model in MODELS.items())
    yield __doc__.partition("\n\n")[2].strip().replace("\n", " ")
    header = ["K", "model", "fit s", "CPU s", "MB", "NPMI", "Coh", "diversity", "NMI", "held-out log-likelihood"]
    for design in designs:
        yield f"### {title(corpus_of(design))}"
        rows = [make_row(values, design, method, K) for K in topics_of(values, design) for method in METHODS]
        yield markdown_table(header, [row for row in rows if row])
        yield " ".join(filter(None, [say_growth(values, design), say_unigram(values, design)]))


def say_growth(values: Values, design: str) -> str:
    """Return a sentence on how the processor seconds of the models grow with the topics; empty without two sizes."""
    said = []
    for method in METHODS:
        sizes = [K for K in topics_of(values, design) if K >= GROWTH_FROM]
        costs = [(K, fastest(values, design, method, K).get("fit_cpu", np.nan)) for K in sizes]
        found = np.array([each for each in costs if each[1] > 0])
        if len(found) > 1:
            exponent = np.polyfit(*np.log(found).T, 1)[0]
            said.append(f"{method} {exponent:.2f} (to {found[-1, 0]:,.0f})")
    if not said:
        return ""
    return (
        f"Exponent of the growth of the processor seconds, from {GROWTH_FROM} topics on to the most that were fitted: "
        f"{', '.join(said)}."
    )


def say_unigram(values: Values, design: str) -> str:
    """Return a sentence with the held-out log-likelihood of a model without topics; empty if it was not measured."""
    known = [found["unigram"] for cell, found in values.items() if cell.design == design and "unigram" in found]
    return f"Held-out log-likelihood of one topic for all documents: {known[0]:.3f}." if known else ""


def make_row(values: Values, design: str, method: str, K: int) -> list[str]:
    """Return what was measured of one model, or why not; nothing if it was not run."""
    found = fastest(values, design, method, K)
    if not found:
        return []
    start = [str(K), method]
    measures = [f"{found[name]:.{n}f}" if name in found else "" for name, n in MEASURES.items()]
    if any(measures) and "fit_wall" not in found:
        return [*start, "", "", "", *measures]
    if "fit_wall" not in found:
        stopped = "failed"
        if "stopped" in found:
            stopped = f"> {found['stopped']:.0f}" + (" with fewer" if "not_tried" in found else "")
        return [*start, "", stopped, *[""] * (1 + len(MEASURES))]
    costs = [f"{found['fit_wall']:.2f}", f"{found['fit_cpu']:.2f}", f"{found['peak_mb']:.0f}"]
    return [*start, *costs, *measures]
