"""Some of the overlaps that `make overlaps` tries for every pair of commands."""

import pytest

from tests.helpers.overlaps import list_expected, list_pairs, make_base, overlap

PAIRS = {pair.name: pair for pair in list_pairs()}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("overlaps") / "base"
    folder.mkdir()
    make_base(folder)
    return folder


@pytest.mark.parametrize(
    ("name", "places"), [("edit and edit", [6]), ("a reader and convert", range(1, 5)), ("edit and fit", [7])]
)
def test_two_commands_give_what_one_after_the_other_gives(base, name, places):
    expected = list_expected(base, PAIRS[name])
    for place in places:
        problem, n_well = overlap(base, PAIRS[name], expected, stop_at=place)
        assert problem is None
        assert n_well > 0
