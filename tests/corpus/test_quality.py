import pytest

from anchorless._corpus.quality import EXAMPLE_LENGTH, MAX_EXAMPLES, is_note, make_note


def test_a_note_has_the_share_of_its_documents_and_the_first_examples():
    note = make_note("near-copies", 3, 12, "set {deduplicate}", ("x" * 1000 for _ in range(10)))
    assert note.n_documents == 3
    assert note.share == 0.25
    assert note.examples == ["x" * EXAMPLE_LENGTH] * MAX_EXAMPLES
    assert make_note("nothing", 0, 0).share == 0.0


@pytest.mark.parametrize(
    "change",
    [{"what": 3}, {"n_documents": -1}, {"n_documents": 1.5}, {"share": 2}, {"examples": "abc"}, {"examples": [1]}],
)
def test_only_notes_are_taken_for_notes(change):
    given = make_note("markup", 3, 12, "set {html}", ["<b>"])._asdict()
    assert is_note(given)
    assert not is_note(given | change)
    assert not is_note({**given, "other": 1})
    assert not is_note(["markup"])
