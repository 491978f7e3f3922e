"""What embeddings add to a fit, as a command."""

import pytest

from benchmarks import embeddings


@pytest.mark.parametrize(("seconds", "code"), [((2.0, 3.5), 0), ((2.0, 4.5), 1)])
def test_what_embeddings_add_is_told_and_fails_beyond_a_plain_fit(monkeypatch, capsys, seconds, code):
    wanted = iter([*seconds, seconds[0] + 1.0, seconds[1] + 1.0])
    monkeypatch.setattr(embeddings, "LENGTHS", (10,))
    monkeypatch.setattr(embeddings, "measure", lambda work: embeddings.Cost(9.0, next(wanted)))
    arguments = ["--documents", "30", "--topics", "3", "--jobs", "1", "--repeats", "2"]
    assert embeddings.main(arguments) == code
    added = (seconds[1] - seconds[0]) / seconds[0]  # of the smallest seconds
    printed = capsys.readouterr().out
    assert f"adds 0.00, of CPU seconds {added:.2f}" in printed
    assert f"at most {added:.2f} of the CPU seconds of a plain fit" in printed


def test_documents_are_fitted_with_and_without_embeddings():
    sample = embeddings.draw_sample(120, 20)
    assert sample.embeddings.shape == (120, embeddings.N_DIMENSIONS)
    plain, full = embeddings.measure_fits(sample, 3, 1, 1)
    assert plain.cpu > 0
    assert full.cpu > 0
