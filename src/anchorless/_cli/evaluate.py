"""`anchorless evaluate`: how well the topics of a model fit documents that it may not have seen."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from anchorless import metrics
from anchorless._cli.apply import TokenCounter, align_counts, format_vocabulary_error, get_count_settings
from anchorless._cli.corpora import MetadataCollector, is_counted, open_source
from anchorless._cli.options import Command, add_flags, add_input, add_model, add_threads, resolve_model_path, seed
from anchorless._cli.printing import print_json, print_table
from anchorless._cli.progress import ConsoleProgress
from anchorless._corpus.counting import count_with_vocabulary
from anchorless._corpus.documents import Array
from anchorless._corpus.io.count_readers import read_counts
from anchorless._corpus.threads import resolve_n_threads
from anchorless._topic_model.model import TopicModel
from anchorless.errors import InputError

N_WORDS = 10


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `evaluate`."""
    add_model(parser)
    add_input(parser)
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of the split of documents (default: 0)")
    add_threads(parser)
    add_flags(parser, force=False)


def run(options: argparse.Namespace) -> None:
    """Print the measures of a model on documents."""
    progress, tokens = ConsoleProgress(quiet=options.quiet), TokenCounter()
    model = TopicModel.load(resolve_model_path(options.model)).set_params(n_threads=options.threads)
    counts, labels = counted(options, model, progress, tokens)
    if counts.sum() == 0:
        raise InputError(format_vocabulary_error(options.model, options.input))
    found = compute_measures(model.components_, compute_token_topics(model), counts, options.seed)
    found |= {"documents": counts.shape[0], "tokens": tokens.n, "unknown_tokens": tokens.n_unknown}
    if labels is not None:
        labelled = [k for k, label in enumerate(labels) if label is not None]
        lead = model.infer_mixtures(counts[labelled]).shares.argmax(axis=1)
        found["clustering_accuracy"] = metrics.clustering_accuracy([labels[k] for k in labelled], lead)
    if options.json:
        print_json(found)
        return
    print_table(
        ["measure", "value", "what it says"],
        [[name, format_measure(found[name]), MEASURE_DESCRIPTIONS[name]] for name in found],
    )


def compute_measures(components: Array, topics: Array, counts: Any, seed: int) -> dict[str, Any]:
    """Return the measures of topics on counts; `topics` are the components as probabilities of tokens."""
    n_words = min(N_WORDS, components.shape[1])
    completion = metrics.document_completion(topics, counts, random_state=seed)
    return {
        "npmi": float(metrics.npmi(components, counts, n_words).mean()),
        "umass": float(metrics.umass(components, counts, n_words).mean()),
        "diversity": float(metrics.topic_diversity(components, n_words)),
        "exclusivity": float(metrics.exclusivity(components, n_words).mean()),
        "completion": completion.log_likelihood,
        "completion_unigram": completion.unigram,
        "perplexity": math.exp(-completion.log_likelihood),
        "perplexity_unigram": math.exp(-completion.unigram),
    }


MEASURE_DESCRIPTIONS = {
    "npmi": "coherence of the 10 leading words, -1 to 1; higher is better",
    "umass": "coherence by UMass; nearer to 0 is better",
    "diversity": "share of different words among the leading words; 1 is best",
    "exclusivity": "how far leading words belong to one topic; 1 is best",
    "completion": "log-likelihood per token of half a document given the other half; higher is better",
    "completion_unigram": "the same without topics: what to beat",
    "perplexity": "exp of minus the log-likelihood per token; lower is better",
    "perplexity_unigram": "the same without topics: what to beat",
    "clustering_accuracy": "documents with a label whose leading topic is that of the label",
    "documents": "documents that were measured",
    "tokens": "tokens in them",
    "unknown_tokens": "of words that the model does not know",
}


def format_measure(value: float) -> str:
    """Return a measure with few digits."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def compute_token_topics(model: TopicModel) -> Array:
    """Return the topics as probabilities of tokens: the weight of rare words is taken back."""
    idf = model.fitted_.weights.idf
    if idf is None:
        return model.components_
    topics = np.divide(model.components_, idf, out=np.zeros_like(model.components_), where=idf > 0)
    return np.asarray(topics / topics.sum(axis=1, keepdims=True))


def counted(
    options: argparse.Namespace, model: TopicModel, progress: ConsoleProgress, tokens: TokenCounter
) -> tuple[Any, list[str] | None]:
    """Return the documents counted with the words of the model, and their labels if there are any."""
    if is_counted(options):
        documents = read_counts(options.input, vocabulary=options.vocabulary, format=options.format)
        known = align_counts(documents, model.vocabulary_, options.model)
        total = int(documents.counts.sum())
        tokens.add(total, total - int(known.sum()))
        return known, documents.labels
    settings = get_count_settings(model, options)
    with open_source(options) as source:
        kept = MetadataCollector(options, source.name)
        texts = iter_texts(progress.reading(source), kept)
        blocks = []
        for batch in count_with_vocabulary(texts, model.vocabulary_, settings, resolve_n_threads(options.threads)):
            tokens.add(batch.n_tokens, batch.n_unknown)
            blocks.append(batch.counts)
    for sentence in source.skipped.describe_all():
        progress.log(sentence)
    labels = kept.arrays()[1]
    some = labels is not None and labels.null_count < len(labels)
    return sp.vstack(blocks, format="csr").astype(np.float64), labels.to_pylist() if some else None


def iter_texts(batches: Iterable[Any], kept: MetadataCollector) -> Iterator[Any]:
    """Yield the texts of batches and keep what is known of them."""
    for batch in batches:
        kept.add(batch.carried)
        yield batch.texts


EVALUATE = Command(
    "evaluate",
    "measure the topics of a model on documents",
    "Measure the topics of MODEL on the documents of INPUT, best on ones that it was not fitted on: coherence,\n"
    "diversity, exclusivity, and how well half of each document tells the other half, beside a model without topics.",
    "anchorless evaluate reviews-topics held-out.csv",
    add_options,
    run,
)
