"""One fit from a file of texts to topics, for `benchmarks.scale`, which runs this module in a separate process."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

#: Words in fewer documents, and in a larger share of them, are left out by every method.
MIN_DF, MAX_DF = 5, 0.5
SEED = 0


class Stages:
    """Seconds of the stages of a process, and the peak memory of each, on Linux."""

    def __init__(self) -> None:
        self.found: dict[str, float] = {}
        self._last = time.perf_counter()

    def end(self, stage: str) -> None:
        """Record the end of a stage, or of a part of it, that began at the end of the previous one."""
        now = time.perf_counter()
        seconds, peak = f"seconds_{stage}", f"peak_{stage}"
        self.found[seconds] = self.found.get(seconds, 0.0) + now - self._last
        self.found[peak] = max(self.found.get(peak, 0.0), peak_since_last())
        self._last = now

    def update(self, stage: str, done: int, total: int | None) -> None:
        """Record a report of `anchorless.progress`: a stage ends with the last of its steps."""
        if done == total and stage not in ("pass", "reading"):
            self.end(stage)


def peak_since_last() -> float:
    """Return the peak memory since the last call, in MB; nan if the system does not report it."""
    try:
        status = Path("/proc/self/status").read_text()
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return float("nan")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024 / 1e6


def texts_of(path: Path) -> Iterator[str]:
    """Yield the texts of a file."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)["text"]


def anchorless(path: Path, n_topics: int, out: Path) -> None:
    """Run the command with its report and tables."""
    stages = Stages()
    from anchorless import TopicModel
    from anchorless._cli import progress
    from anchorless._cli.main import main

    def call_both(callback: Any, listen: Any = progress.listen) -> Any:
        return listen(lambda *reported: (stages.update(*reported), callback(*reported)))

    progress.listen = call_both  # the command sets its own callback: call ours as well
    stages.end("import")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "topics")
        code = main(["fit", str(path), "-k", str(n_topics), "--min-df", str(MIN_DF), "-o", str(target), "-q", "--json"])
        if code:
            sys.exit(code)
        stages.end("write")
        seconds = json.loads((target / "run.json").read_text())["seconds"]["read and count"]
        model = TopicModel.load(target / "model.anchorless")
    # The first stage that is reported, weighting, includes reading: only the larger of their peaks is known.
    stages.found["seconds_weighting"] -= seconds
    found = {"seconds_count": seconds, "peak_count": stages.found["peak_weighting"]} | stages.found
    write_result(out, model.components_, model.vocabulary_, model._record.weights.idf, found)


def count_words(path: Path, stages: Stages) -> tuple[Any, Any]:
    """Return counts by scikit-learn, and the words."""
    from sklearn.feature_extraction.text import CountVectorizer

    stages.end("import")
    vectorizer = CountVectorizer(min_df=MIN_DF, max_df=MAX_DF)
    X = vectorizer.fit_transform(texts_of(path))
    stages.end("count")
    return X, vectorizer.get_feature_names_out()


def minibatch_nmf(path: Path, n_topics: int, out: Path) -> None:
    """Run scikit-learn's MiniBatchNMF on tf-idf."""
    stages = Stages()
    from sklearn.decomposition import MiniBatchNMF
    from sklearn.feature_extraction.text import TfidfTransformer

    X, words = count_words(path, stages)
    weighting = TfidfTransformer(sublinear_tf=True)
    model = MiniBatchNMF(n_topics, random_state=SEED).fit(weighting.fit_transform(X))
    stages.end("topics")
    write_result(out, model.components_, words, weighting.idf_, stages.found)


def lda_online(path: Path, n_topics: int, out: Path) -> None:
    """Run scikit-learn's online LDA."""
    stages = Stages()
    from sklearn.decomposition import LatentDirichletAllocation

    X, words = count_words(path, stages)
    model = LatentDirichletAllocation(n_topics, learning_method="online", batch_size=2048, random_state=SEED).fit(X)
    topics = model.components_ / model.components_.sum(axis=1, keepdims=True)
    stages.end("topics")
    write_result(out, topics, words, None, stages.found)


def gensim_lda(path: Path, n_topics: int, out: Path) -> None:
    """Run gensim's LdaModel with its defaults: one pass over the documents."""
    stages = Stages()
    from gensim.corpora import Dictionary
    from gensim.models import LdaModel

    stages.end("import")
    tokens = [text.split() for text in texts_of(path)]
    dictionary = Dictionary(tokens)
    dictionary.filter_extremes(no_below=MIN_DF, no_above=MAX_DF, keep_n=None)
    bags = [dictionary.doc2bow(words) for words in tokens]
    del tokens
    stages.end("count")
    model = LdaModel(bags, num_topics=n_topics, id2word=dictionary, random_state=SEED)
    words = [dictionary[k] for k in range(len(dictionary))]
    stages.end("topics")
    write_result(out, model.get_topics(), words, None, stages.found)


def write_result(out: Path, components: Any, words: Any, idf: Any, stages: dict[str, float]) -> None:
    """Write what was found; without `idf`, topics are over words as they were counted."""
    weights = np.zeros(0) if idf is None else np.asarray(idf)
    words = np.array(list(words), dtype=np.str_)
    np.savez(out, components=components, words=words, idf=weights, stages=json.dumps(stages))


METHODS = {"anchorless": anchorless, "nmf": minibatch_nmf, "lda": lda_online, "gensim": gensim_lda}


if __name__ == "__main__":
    METHODS[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
