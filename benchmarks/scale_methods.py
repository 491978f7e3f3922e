"""One fit from a file of texts to topics, for `benchmarks.scale`, which runs this module in a process of its own."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

#: Words in fewer documents are left out by every method.
MIN_DF = 5
SEED = 0


def texts_of(path: Path) -> Iterator[str]:
    """Yield the texts of a file."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)["text"]


def anchorless(path: Path, n_topics: int, out: Path) -> None:
    """Run the command with its report and tables."""
    from anchorless import TopicModel
    from anchorless.cli import main

    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "topics")
        code = main(["fit", str(path), "-k", str(n_topics), "--min-df", str(MIN_DF), "-o", str(target), "-q", "--json"])
        if code:
            sys.exit(code)
        model = TopicModel.load(target / "model.anchorless")
        seconds = json.loads((target / "run.json").read_text())["seconds"]
    stages = ", ".join(f"{name} {value:.0f}" for name, value in seconds.items() if name != "all")
    written(out, model.components_, model.vocabulary_, model.fitted_.weights.idf, stages)


def counted(path: Path) -> tuple[Any, Any, float]:
    """Return counts by scikit-learn, the words, and the seconds."""
    from sklearn.feature_extraction.text import CountVectorizer

    start = time.perf_counter()
    vectorizer = CountVectorizer(min_df=MIN_DF, max_df=0.5)
    X = vectorizer.fit_transform(texts_of(path))
    return X, vectorizer.get_feature_names_out(), time.perf_counter() - start


def minibatch_nmf(path: Path, n_topics: int, out: Path) -> None:
    """Run scikit-learn's MiniBatchNMF on tf-idf."""
    from sklearn.decomposition import MiniBatchNMF
    from sklearn.feature_extraction.text import TfidfTransformer

    X, words, seconds = counted(path)
    weigh = TfidfTransformer(sublinear_tf=True)
    start = time.perf_counter()
    model = MiniBatchNMF(n_topics, random_state=SEED).fit(weigh.fit_transform(X))
    written(out, model.components_, words, weigh.idf_, f"count {seconds:.0f}, fit {time.perf_counter() - start:.0f}")


def lda_online(path: Path, n_topics: int, out: Path) -> None:
    """Run scikit-learn's online LDA."""
    from sklearn.decomposition import LatentDirichletAllocation

    X, words, seconds = counted(path)
    start = time.perf_counter()
    model = LatentDirichletAllocation(n_topics, learning_method="online", batch_size=2048, random_state=SEED).fit(X)
    topics = model.components_ / model.components_.sum(axis=1, keepdims=True)
    written(out, topics, words, None, f"count {seconds:.0f}, fit {time.perf_counter() - start:.0f}")


def gensim_lda(path: Path, n_topics: int, out: Path) -> None:
    """Run gensim's LdaModel with its defaults."""
    from gensim.corpora import Dictionary
    from gensim.models import LdaModel

    start = time.perf_counter()
    tokens = [text.split() for text in texts_of(path)]
    dictionary = Dictionary(tokens)
    dictionary.filter_extremes(no_below=MIN_DF, no_above=0.5, keep_n=None)
    bags = [dictionary.doc2bow(words) for words in tokens]
    counted_at = time.perf_counter()
    model = LdaModel(bags, num_topics=n_topics, id2word=dictionary, random_state=SEED)
    words = [dictionary[k] for k in range(len(dictionary))]
    stages = f"count {counted_at - start:.0f}, fit {time.perf_counter() - counted_at:.0f}"
    written(out, model.get_topics(), words, None, stages)


def written(out: Path, components: Any, words: Any, idf: Any, stages: str) -> None:
    """Write what was found; without `idf`, topics are over words as they were counted."""
    weights = np.zeros(0) if idf is None else np.asarray(idf)
    np.savez(out, components=components, words=np.array(list(words), dtype=np.str_), idf=weights, stages=stages)


METHODS = {"anchorless": anchorless, "nmf": minibatch_nmf, "lda": lda_online, "gensim": gensim_lda}


if __name__ == "__main__":
    METHODS[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
