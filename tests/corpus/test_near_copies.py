"""Near-copies: found where they are planted, whatever the batches, with estimates near the true similarity."""

import random
import threading

import pyarrow as pa
import pytest

from anchorless import Corpus, CountSettings
from anchorless._corpus import near_copies
from anchorless._corpus.near_copies import NearCopies, estimate_similarity, sketch_texts

RNG = random.Random(0)
WORDS = [f"word{n}" for n in range(2000)]
TEXTS = [RNG.choices(WORDS, k=RNG.randint(60, 300)) for _ in range(60)]


def jaccard(first, second):
    """Compute the share of sequences of five words in common by sets: a second implementation."""
    sets = [{tuple(words[i : i + 5]) for i in range(max(len(words) - 4, 1))} for words in (first, second)]
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])


def change(words, n, rng):
    words = list(words)
    for place in rng.sample(range(len(words)), n):
        words[place] = "changed"
    return words


def test_estimates_are_near_the_true_similarity():
    rng, errors = random.Random(1), []
    for words in TEXTS:
        other = change(words, rng.randint(0, 6), rng)
        first, second = sketch_texts(pa.array([" ".join(words), " ".join(other)]))
        errors.append(estimate_similarity(first, second) - jaccard(words, other))
    assert max(map(abs, errors)) < 0.25  # four standard errors
    assert abs(sum(errors) / len(errors)) < 0.03


@pytest.mark.parametrize("size", [1, 7, 200])
def test_copies_are_found_in_any_batches_and_others_are_kept(size):
    rng = random.Random(2)
    copies = [" ".join(words).upper() + "  " for words in TEXTS[:20]]
    near = [" ".join([*words, "end"]) for words in TEXTS[20:30]]
    different = [" ".join(change(words, len(words) // 2, rng)) for words in TEXTS[30:40]]
    texts = [*map(" ".join, TEXTS), *copies, *near, *different]
    found = NearCopies()
    kept = []
    for start in range(0, len(texts), size):
        part = texts[start : start + size]
        kept += found.find(pa.array(part), [str(start + row) for row in range(len(part))]).tolist()
    assert kept == [True] * 60 + [False] * 30 + [True] * 10
    assert [(copy.id, copy.kept) for copy in found.copies] == [(str(60 + n), str(n)) for n in range(30)]


def test_copies_of_texts_without_spaces_are_found():
    letters = [chr(0x4E00 + n) for n in range(500)]
    texts = ["".join(RNG.choices(letters, k=80)) for _ in range(10)]
    settings = CountSettings(deduplicate=True, segmenter="ngrams")
    with Corpus.from_texts([*texts, texts[3] + "请"], counting=settings) as corpus:
        assert corpus.removed.to_pydict()["kept"] == ["3"]


def test_short_and_empty_texts():
    found = NearCopies()
    assert found.find(pa.array(["", "", "a b", "a b", "b a", " "]), [*"123456"]).tolist() == [
        *(True, True, True, False, True, True),
    ]


def test_a_corpus_without_copies_keeps_what_belongs_to_the_others():
    texts = [" ".join(words) for words in TEXTS[:10]]
    with Corpus.from_texts(
        [texts[0], texts[0], *texts[1:]],
        counting=CountSettings(deduplicate=True, max_df=1.0),
        ids=[f"d{n}" for n in range(11)],
        labels=[*"abcdefghijk"],
    ) as corpus:
        assert corpus.metadata.ids.to_pylist() == ["d0", *(f"d{n}" for n in range(2, 11))]
        assert corpus.metadata.labels.to_pylist() == [*"acdefghijk"]
        assert corpus.removed.to_pylist() == [{"id": "d1", "kept": "d0", "similarity": 1.0}]
        assert corpus.n_documents == 10


def test_a_file_without_copies(tmp_path):
    lines = [" ".join(words) for words in TEXTS[:10]]
    (tmp_path / "a.txt").write_text("\n".join([*lines, lines[3]]))
    with Corpus.read(tmp_path / "a.txt", counting=CountSettings(deduplicate=True, max_df=1.0)) as corpus:
        assert corpus.n_documents == 10
        assert corpus.removed.to_pylist() == [{"id": "11", "kept": "4", "similarity": 1.0}]
        assert "left out 1 near-copies" in corpus.notes[0]
        assert sum(len(table) for table in corpus.iter_columns()) == 10


def test_the_main_thread_sorts_no_hash_values_as_it_has_to_handle_signals(monkeypatch):
    """A batch of long texts takes a third of a second, in one call of NumPy that Ctrl-C does not interrupt."""
    threads = []

    def sketch(texts):
        threads.append(threading.current_thread())
        return sketch_texts(texts)

    monkeypatch.setattr(near_copies, "sketch_texts", sketch)
    NearCopies().find(pa.array(["a text"]), ["0"])
    assert threads
    assert threading.main_thread() not in threads
