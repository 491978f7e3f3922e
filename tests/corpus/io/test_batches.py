import random

import numpy as np
import pytest

from anchorless._corpus.io import batches
from anchorless._corpus.io.batches import Row, SeenIds, SkipLog, group_rows, make_names_unique
from anchorless.errors import InputError


def test_skips_count_everything_and_keep_the_first_places():
    skips = SkipLog("a.csv", "line")
    for line in range(2, 14):
        skips.add("empty", line)
    skips.add("malformed", 20, "2 cells, but the header has 3")
    skips.add("duplicate id", 21, "'x'")
    assert skips.counts == {"empty": 12, "malformed": 1, "duplicate id": 1}
    assert skips.places["empty"] == [2, 3, 4, 5, 6]
    assert skips.describe_all() == [
        "skipped 12 lines without text (lines 2, 3, 4, 5, 6 and 7 more)",
        "skipped 1 line that could not be read (line 20; the first: 2 cells, but the header has 3)",
        "found 1 line with an id that an earlier document has (line 21; the first: 'x')",
    ]


def test_a_log_without_skips_has_no_sentences():
    assert SkipLog("a.csv", "line").describe_all() == []


@pytest.mark.parametrize("reason", [*batches.REASONS])
def test_strict_names_the_place(reason):
    skips = SkipLog("a.csv", "line", strict=True)
    with pytest.raises(InputError, match=r"^a\.csv, line 7: a line .*\(because\)"):
        skips.add(reason, 7, "because")


@pytest.mark.parametrize("seed", range(5))
def test_groups_keep_the_order_and_the_limits(monkeypatch, seed):
    monkeypatch.setattr(batches, "ROWS_PER_CHUNK", 7)
    monkeypatch.setattr(batches, "CHARACTERS_PER_CHUNK", 100)
    rng = random.Random(seed)
    rows = [Row(i, str(i), None, rng.choice([1, 5, 60, 300])) for i in range(200)]
    groups = list(group_rows(rows))
    assert [row for group in groups for row in group] == rows
    for group in groups:
        assert len(group) <= 7
        assert sum(row.size for row in group[:-1]) < 100
    for group in groups[:-1]:
        assert len(group) == 7 or sum(row.size for row in group) >= 100
    assert list(group_rows([])) == []


@pytest.mark.parametrize("seed", range(5))
def test_repeated_ids_are_those_a_set_finds(seed):
    rng = random.Random(seed)
    seen, plain = SeenIds(), set()
    for _ in range(60):
        ids = [str(rng.randrange(3000)) for _ in range(rng.choice([0, 1, 10, 100]))]
        expected = []
        for value in ids:
            expected.append(value in plain)
            plain.add(value)
        np.testing.assert_array_equal(seen.mark_repeated(ids), expected)


def test_ids_take_eight_bytes_each_in_few_runs():
    seen = SeenIds()
    for start in range(0, 100_000, 1000):
        seen.mark_repeated([f"document {number}" for number in range(start, start + 1000)])
    assert sum(run.nbytes for run in seen.sorted_hashes) == 800_000
    assert len(seen.sorted_hashes) <= 8


def test_names_are_made_distinct():
    assert make_names_unique(["a", "a", "a", "a_2"]) == ["a", "a_2", "a_3", "a_2_2"]
    assert make_names_unique([]) == []
    assert make_names_unique(["a"] * 100_000)[-1] == "a_100000"  # minutes, if each name tried all numbers
