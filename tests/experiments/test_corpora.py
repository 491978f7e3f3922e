"""The experiments on real corpora, on tiny fakes of their files: draws, measures, resuming, tables, cones, faces."""

from __future__ import annotations

import ast
import csv
import gzip
import json
import pickle
from argparse import Namespace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import anchorless
from experiments import __main__ as command
from experiments import cones, corpora, corpora_data, corpora_fits, corpora_report, example, results, runtime
from experiments.progress import Progress
from experiments.results import Cell, Results

ROOT = Path(__file__).parents[2]
N_CLASSES, PER_CLASS, WORDS_PER_CLASS = 6, 12, 30
N_WORDS = N_CLASSES * WORDS_PER_CLASS
FAST = ("spa", "anchorfree-hard", "anchorfree", "nmf")
SLOW = ("lda",)


def planted_counts() -> tuple[sp.csr_matrix, np.ndarray]:
    """Documents of six classes: most words are of their own class, and a last column is empty."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(1, N_CLASSES + 1), PER_CLASS)
    rates = np.full((len(labels), N_WORDS + 1), 0.05)
    for row, label in enumerate(labels):
        rates[row, (label - 1) * WORDS_PER_CLASS : label * WORDS_PER_CLASS] = 1.5
    rates[:, -1] = 0
    order = rng.permutation(len(labels))
    return sp.csr_matrix(rng.poisson(rates)[order].astype(float)), labels[order]


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """A folder with all four files, tiny. Reuters has a seventh class of two documents."""
    folder = tmp_path_factory.mktemp("data")
    counts, labels = planted_counts()
    scipy.io.savemat(folder / "TDT2.mat", {"fea": counts, "gnd": labels[:, None]})
    small = sp.vstack([counts, counts[:2]]).tocsr()
    scipy.io.savemat(folder / "Reuters21578.mat", {"fea": small, "gnd": np.r_[labels, 7, 7][:, None]})
    (folder / "Reuters21578.words.txt").write_text("".join(f"word{k}\n" for k in range(counts.shape[1])))
    with gzip.open(folder / "20newsgroups.jsonl.gz", "wt", encoding="utf-8") as file:
        for k, (row, label) in enumerate(zip(counts.toarray().astype(int), labels, strict=True)):
            body = " ".join(f"w{v:03d}x" for v, n in enumerate(row) for _ in range(n))
            text = f"From: secretheader\nSubject: {k}\n\n{body}\n"
            file.write(json.dumps({"id": str(k), "group": f"group{label}", "split": "train", "text": text}) + "\n")
    return folder


@pytest.fixture(autouse=True)
def use_data(monkeypatch, data):
    monkeypatch.setenv("ANCHORLESS_DATA", str(data))


def run(out: Path, *arguments: str) -> int:
    return command.main([*arguments, "--out", str(out)])


def options(**given) -> Namespace:
    nothing = {"topics": None, "draws": None, "methods": None, "min_class_size": None, "jobs": 1, "repeats": None}
    return Namespace(**{**nothing, "quick": False, **given})


TINY = ("--topics", "3,4", "--draws", "2", "--methods", ",".join(FAST))


@pytest.fixture(scope="module")
def finished(tmp_path_factory, data):
    """The text of a finished tiny run of tdt2."""
    out = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANCHORLESS_DATA", str(data))
        assert run(out, "tdt2", *TINY) == 0
    return {name: (out / "tdt2" / name).read_text() for name in ("results.csv", "facts.json", "tables.md")}


@pytest.fixture
def folder(tmp_path, finished):
    folder = tmp_path / "tdt2"
    folder.mkdir()
    for name, text in finished.items():
        (folder / name).write_text(text)
    return folder


def timeless(text: str) -> list[str]:
    return [line for line in text.splitlines() if ",seconds" not in line]


# --- the corpora ---


def test_draw_has_the_documents_of_its_classes_and_only_words_that_occur():
    corpus = corpora_data.load("tdt2")
    drawn = corpora_data.draw("tdt2", 1, 3, 5)
    assert len(set(drawn.classes)) == 3
    assert set(drawn.classes) == set(np.random.default_rng([1, 3, 5]).choice(np.arange(1, 7), 3, replace=False))
    rows = np.isin(corpus.labels, drawn.classes)
    np.testing.assert_array_equal(drawn.labels, corpus.labels[rows])
    np.testing.assert_array_equal(drawn.counts.toarray(), corpus.counts[rows].toarray()[:, drawn.columns])
    assert (drawn.counts.getnnz(axis=0) > 0).all()
    assert drawn.counts.sum() == corpus.counts[rows].sum()
    assert N_WORDS not in drawn.columns


def test_tfidf_is_of_the_whole_corpus_and_normalised_cut_of_the_draw():
    corpus = corpora_data.load("tdt2")
    drawn = corpora_data.draw("tdt2", 1, 3, 0)
    counts, everything = drawn.counts.toarray(), corpus.counts.toarray()[:, drawn.columns]
    tf = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0)
    D = tf * np.log(len(everything) / (everything > 0).sum(axis=0))
    D /= np.linalg.norm(D, axis=1, keepdims=True)
    D /= np.sqrt(D @ D.sum(axis=0))[:, None]
    np.testing.assert_allclose(drawn.weighted.toarray(), D, atol=1e-12)


def test_draws_are_deterministic_and_differ_by_number_topics_and_corpus():
    classes = np.arange(1, 31)
    first = corpora_data.draw_classes(classes, 1, 5, 0)
    np.testing.assert_array_equal(first, corpora_data.draw_classes(classes, 1, 5, 0))
    draws = {tuple(corpora_data.draw_classes(classes, 1, 5, number)) for number in range(50)}
    assert len(draws) == 50
    assert tuple(first) != tuple(corpora_data.draw_classes(classes, 2, 5, 0))
    assert len({source.seed for source in corpora_data.CORPORA.values()}) == 3


def test_small_classes_are_drawn_only_when_asked_for():
    labels = corpora_data.load("reuters").labels
    assert list(corpora_data.eligible(labels, 10)) == [1, 2, 3, 4, 5, 6]
    assert list(corpora_data.eligible(labels, 1)) == [1, 2, 3, 4, 5, 6, 7]
    assert {cell.design for cell in corpora.plan("reuters", options(topics=(3,)))} == {"corpus tf-idf, classes>=10"}
    asked = corpora.plan("reuters", options(topics=(7,), min_class_size=2))
    assert {cell.design for cell in asked} == {"corpus tf-idf, classes>=2"}


def test_posts_are_counted_without_their_headers():
    corpus = corpora_data.load("newsgroups")
    assert corpus.names == tuple(f"group{k}" for k in range(1, 7))
    assert "secretheader" not in corpus.words
    assert {word[0] for word in corpus.words} == {"w"}
    counts, labels = planted_counts()
    columns = [int(word[1:4]) for word in corpus.words]
    np.testing.assert_array_equal(corpus.counts.toarray(), counts.toarray()[:, columns])
    np.testing.assert_array_equal(corpus.labels + 1, labels)


@pytest.mark.parametrize(
    ("text", "body"), [("a: b\n\nc\n\nd", "c\n\nd"), ("a\r\n\r\nc", "c"), ("no header", "no header"), ("\nc", "c")]
)
def test_header_ends_at_the_first_blank_line(text, body):
    assert corpora_data.without_header(text) == body


def test_words_of_reuters_are_those_of_their_file(monkeypatch, tmp_path, data):
    assert corpora_data.readable_words("reuters")[3] == "word3"
    assert corpora_data.readable_words("tdt2")[3] == "4"
    (tmp_path / "Reuters21578.words.txt").write_text("one\n")
    (tmp_path / "Reuters21578.mat").write_bytes((data / "Reuters21578.mat").read_bytes())
    monkeypatch.setenv("ANCHORLESS_DATA", str(tmp_path))
    with pytest.raises(results.ResultsError, match="1 lines for 181 columns"):
        corpora_data.readable_words("reuters")


# --- missing data ---


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("tdt2", ["TDT2.mat"]),
        ("reuters", ["Reuters21578.mat"]),
        ("newsgroups", ["20newsgroups.jsonl.gz"]),
        ("runtime", ["TDT2.mat", "Reuters21578.mat"]),
        ("example", ["TDT2.mat", "Reuters21578.mat", "Reuters21578.words.txt", "20newsgroups.jsonl.gz"]),
    ],
)
@pytest.mark.parametrize("given", [False, True])
def test_missing_files_are_named_with_their_source(tmp_path, monkeypatch, capsys, name, files, given):
    monkeypatch.setenv("ANCHORLESS_DATA", str(tmp_path)) if given else monkeypatch.delenv("ANCHORLESS_DATA")
    assert run(tmp_path / "out", name) == 2
    shown = capsys.readouterr().err
    assert "ANCHORLESS_DATA" in shown
    named = [line.split(":")[0].strip() for line in shown.splitlines()[1:]]
    assert sorted(named) == sorted(files)
    assert all(corpora_data.SOURCES[file] in shown for file in files)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("name", "file"), [("tdt2", "TDT2.mat"), ("newsgroups", "20newsgroups.jsonl.gz")])
def test_unreadable_file_is_named(tmp_path, monkeypatch, capsys, name, file):
    (tmp_path / file).write_bytes(b"not a corpus, but long enough to have a header of some kind" * 10)
    monkeypatch.setenv("ANCHORLESS_DATA", str(tmp_path))
    assert run(tmp_path, name, "--quick") == 2
    assert f"{file} is not" in capsys.readouterr().err


# --- the plan ---


def test_full_plan_has_the_papers_grid(monkeypatch):
    monkeypatch.setattr(corpora, "eligible", lambda labels, size: np.arange(30))
    plan = corpora.plan("tdt2", options())
    assert len(plan) == len(set(plan))
    draws = {(cell.method, cell.F): 0 for cell in plan}
    for cell in plan:
        draws[cell.method, cell.F] += 1
    assert {F for _, F in draws} == {3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 25}
    assert {method for method, _ in draws} == set(corpora_fits.MAIN_METHODS)
    assert all(n == (10 if method == "lda" else 50) for (method, _), n in draws.items())
    quick = corpora.plan("tdt2", options(quick=True))
    assert set(quick) < set(plan)
    assert {(cell.F, cell.seed) for cell in quick} == {(F, number) for F in (3, 5, 10) for number in (0, 1)}


def test_all_classes_are_drawn_once():
    plan = corpora.plan("newsgroups", options(topics=(5, 6), methods=("spa",)))
    assert [cell.seed for cell in plan if cell.F == 6] == [0]
    assert len([cell for cell in plan if cell.F == 5]) == 50


@pytest.mark.parametrize(
    ("arguments", "message"), [(["--topics", "7"], "6 classes of at least 1"), (["--methods", "x"], "no method 'x'")]
)
def test_what_cannot_be_run_is_refused(tmp_path, capsys, arguments, message):
    assert run(tmp_path, "tdt2", *arguments) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("bad", ["0", "x", "3,,4", "-1", "2.5"])
def test_bad_numbers_are_refused_by_the_parser(bad, capsys):
    with pytest.raises(SystemExit) as end:
        command.main(["tdt2", f"--topics={bad}"])
    assert end.value.code == 2
    assert "is not a whole number" in capsys.readouterr().err


# --- the fits ---


@pytest.mark.parametrize("method", [*FAST, *SLOW, "classes"])
def test_planted_clusters_are_found(method):
    found = corpora_fits.measure_cell("tdt2", Cell("corpus tf-idf, classes>=1", method, 3, None, 0))
    assert tuple(found) == corpora_fits.MEASURES
    assert np.isfinite(list(found.values())).all()
    if method not in ("spa", "lda"):  # anchors are corners by chance, and for LDA 36 documents are few
        assert min(found["clustacc"], found["clustacc_argmax"], found["clustacc_l1"]) > 0.95
        assert found["simcount"] <= 3
    assert found["seconds"] <= found["seconds_total"]


@pytest.mark.parametrize("method", ["anchorfree", "nmf"])
def test_weights_and_topics_give_the_documents_back(method):
    drawn = corpora_data.draw("tdt2", 1, 3, 0)
    fitted = corpora_fits.fit(method, 3, drawn)
    np.testing.assert_allclose(fitted.C.sum(axis=1), 1.0)
    model = corpora_fits.METHODS[method](3).fit(drawn.weighted)
    np.testing.assert_allclose(
        fitted.W @ fitted.C, model.transform(drawn.weighted) @ model.components_, rtol=1e-9, atol=1e-12
    )


def test_classes_are_their_mean_documents():
    drawn = corpora_data.draw("tdt2", 1, 3, 0)
    model = corpora_fits.METHODS["classes"](3).fit(drawn.weighted, drawn.labels)
    means = [drawn.weighted[drawn.labels == label].mean(axis=0) for label in np.unique(drawn.labels)]
    np.testing.assert_allclose(model.components_, np.vstack(means))
    document = drawn.weighted[:1].toarray().ravel()
    w = model.transform(drawn.weighted)[0]
    slope = model.components_ @ (document - w @ model.components_)  # zero where w > 0, else downhill
    np.testing.assert_allclose(np.maximum(slope, -w), 0.0, atol=1e-9)


def test_weights_are_scaled_by_the_length_of_their_topic():
    # Topic 0 is one word, topic 1 is spread over 100: of equal weights, the first is longer.
    C = np.vstack([np.eye(1, 101)[0], np.r_[0.0, np.full(100, 0.01)]])
    W = np.array([[1.0, 1.0], [10.0, 20.0], [0.0, 1.0], [0.0, 10.0]])
    counts = sp.csr_matrix(np.ones((4, 101)))
    drawn = corpora_data.Draw(counts, counts, np.array([0, 0, 1, 1]), np.arange(101), (0, 1))
    found = corpora_fits.quality(corpora_fits.Fitted(C, W, 0.0, 0), drawn)
    assert found["clustacc_argmax"] == 1.0  # 0.75 if they were not
    assert found["clustacc"] == 0.75  # the document of weight 10 is alone
    assert found["clustacc_l1"] == 1.0
    assert found["coherence"] == pytest.approx(380 * np.log(4.01 / 4))


def test_empty_topic_becomes_uniform():
    C, totals = corpora_fits.probabilities(np.array([[1.0, 3.0], [0.0, 0.0]]))
    np.testing.assert_array_equal(C, [[0.25, 0.75], [0.5, 0.5]])
    np.testing.assert_array_equal(totals, [4.0, 0.0])


def test_refused_fit_has_no_numbers_and_says_why(capsys):
    cell = Cell("corpus tf-idf, classes>=1", "spa-df100", 3, None, 0)  # 36 documents hold no word 100 times
    found = corpora_fits.measure_cell("tdt2", cell)
    assert np.isnan(list(found.values())).all()
    assert "min_df=100" in capsys.readouterr().err
    text = "\n".join(corpora_report.tables("tdt2", {cell: found}))
    assert "1 fits were refused" in text


# --- the results ---


def test_run_writes_tidy_rows_and_tables(tmp_path, capsys):
    assert run(tmp_path, "tdt2", "--topics", "3", "--draws", "1", "--methods", "anchorfree") == 0
    folder = tmp_path / "tdt2"
    assert sorted(path.name for path in folder.iterdir()) == ["facts.json", "results.csv", "tables.md"]
    with open(folder / "results.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["measure"] for row in rows] == list(corpora_fits.MEASURES)
    assert {(row["experiment"], row["design"], row["method"], row["F"], row["seed"]) for row in rows} == {
        ("tdt2", "corpus tf-idf, classes>=1", "anchorfree", "3", "0")
    }
    assert capsys.readouterr().out == (folder / "tables.md").read_text()


def test_finished_run_measures_nothing_again(tmp_path, folder, finished, monkeypatch):
    monkeypatch.setattr(corpora, "measure_cell", lambda name, cell: pytest.fail(f"ran {cell} again"))
    assert run(tmp_path, "tdt2", *TINY) == 0
    assert (folder / "results.csv").read_text() == finished["results.csv"]


def test_half_of_the_rows_lost_come_back_in_two_processes(tmp_path, folder, finished):
    header, *lines = finished["results.csv"].splitlines(keepends=True)
    kept = np.random.default_rng(0).permutation(len(lines))[: len(lines) // 2]
    (folder / "results.csv").write_text(header + "".join(lines[k] for k in sorted(kept)))
    assert run(tmp_path, "tdt2", *TINY, "--jobs", "2") == 0
    assert timeless((folder / "results.csv").read_text()) == timeless(finished["results.csv"])


def test_error_names_its_cell_also_from_another_process():
    def fail(cell):
        raise RuntimeError("no")

    cell = Cell("d", "m", 3, None, 0)
    with pytest.raises(RuntimeError, match="no") as caught:
        results.measure_noting(fail, "tdt2", cell)
    sent = pickle.loads(pickle.dumps(caught.value))  # as a worker does
    assert sent.__notes__ == [f"in tdt2: {cell}"]


def test_cells_of_one_draw_stay_together(monkeypatch):
    batches = []

    class Pool:
        def __init__(self, *arguments, **named):
            pass

        def submit(self, run, measure, batch):
            batches.append([cell.method for cell in batch])
            return partial(run, measure, batch)

        def shutdown(self, **named):
            pass

    monkeypatch.setattr(results, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(results, "as_completed", lambda futures: [Namespace(result=each) for each in futures])
    cells = corpora.plan("tdt2", options(topics=(3, 4), draws=2, methods=FAST))
    done = list(results.side_by_side(lambda cell: (cell, {}, 0.0), cells, jobs=2))
    assert batches == [list(FAST)] * 4
    assert [cell for cell, _, _ in done] == cells


def test_progress_takes_tasks_in_any_order():
    progress = Progress(["slow", "fast", "slow", "fast"], jobs=2)
    progress.__enter__()
    progress.done("a", "fast", 1.0)
    progress.done("b", "slow", 5.0)
    assert progress.left() == pytest.approx((5.0 + 1.0) / 2)


# --- the tables ---


def made_up(method: str, F: int, number: int, **measures: float):
    found = {**dict.fromkeys(corpora_fits.MEASURES, 0.5), **measures}
    return Cell("corpus tf-idf, classes>=1", method, F, None, number), found


def table_after(text: str, heading: str) -> list[list[str]]:
    """The cells of the table below a heading, header first."""
    lines = text.split(f"## {heading}", 1)[1].split("\n#")[0].splitlines()
    rows = [[part.strip() for part in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [rows[0], *rows[2:]]


def test_tables_have_the_papers_numbers_next_to_ours():
    values = dict(
        [
            made_up("spa", 3, 0, clustacc=0.5, coherence=-600.0),
            made_up("spa", 3, 1, clustacc=0.75, coherence=-500.0),
            made_up("anchorfree-hard", 3, 0, clustacc=0.9),
            made_up("anchorfree", 3, 0, clustacc=0.96, simcount=1.0),
            made_up("anchorfree", 3, 1, clustacc=0.98, simcount=2.0),
            made_up("nmf", 3, 0, clustacc=0.9),
            made_up("nmf", 3, 1, clustacc=0.9),
        ]
    )
    text = "\n\n".join(corpora_report.tables("tdt2", values))
    header, row = table_after(text, "ClustAcc")
    assert header == ["F", "draws", "spa", "anchorfree-hard", "anchorfree", "nmf"]
    assert row == ["3", "2, anchorfree-hard 1", "0.62 (0.74)", "0.90 (0.98)", "0.97 (0.98)", "0.90"]
    assert table_after(text, "Coh")[1][2] == "-550.00 (-613.43)"
    assert table_after(text, "SimCount")[1][4] == "1.50 (1.84)"
    assert table_after(text, "Standard error of clustacc")[1][1:] == ["0.125", "–", "0.010", "0.000"]
    assert table_after(text, "All draws / even draws")[1][:4] == ["3", "2 / 1", "0.970 / 0.960", "0.900 / 0.900"]


def test_papers_tables_are_whole():
    for name in ("tdt2", "reuters"):
        paper = corpora_report.paper_values(name)
        assert len(paper) == 11 * 3 * 5
    assert corpora_report.paper_values("tdt2")[25, "simcount", "AnchorFree"] == 133.42
    assert corpora_report.paper_values("reuters")[3, "clustacc", "AnchorFree"] == 0.79
    assert corpora_report.paper_values("newsgroups") == {}


def test_verdict_knows_which_way_is_better():
    values = dict(
        [
            made_up("anchorfree", 3, 0, clustacc=0.9751, coherence=-433.0, simcount=2.0),
            made_up("nmf", 3, 0, clustacc=0.99, coherence=-433.0, simcount=3.0),
            made_up("anchorfree", 5, 1, clustacc=0.9, coherence=-500.0, simcount=1.0),
        ]
    )
    text = "\n\n".join(corpora_report.tables("tdt2", values))
    header, three, five = table_after(text, "Verdict")
    assert header[1:4] == ["clustacc: paper", "coherence: paper", "simcount: paper"]
    assert three[1:4] == ["yes (+0.00)", "yes (+0.87)", "no (-0.16)"]
    assert three[4:7] == ["no (-0.01)", "yes (+0.00)", "yes (+1.00)"]
    assert three[7:] == three[4:7]
    assert five[1:4] == ["no (-0.02)", "no (-94.81)", "yes (+3.40)"]
    assert five[4:] == ["–"] * 6


def test_render_writes_the_tables_again_and_needs_no_data(tmp_path, folder, finished, monkeypatch):
    monkeypatch.delenv("ANCHORLESS_DATA")
    (folder / "tables.md").unlink()
    assert run(tmp_path, "render", "tdt2") == 0
    assert (folder / "tables.md").read_text() == finished["tables.md"]


@pytest.mark.parametrize("name", ["tdt2", "reuters", "newsgroups", "runtime", "example"])
def test_render_without_results_writes_nothing(tmp_path, name, capsys):
    assert run(tmp_path, "render", name) == 1
    assert f"python -m experiments {name}" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


# --- runtime and example ---


def test_runtime_takes_the_best_and_draws_a_figure_per_corpus(tmp_path, capsys):
    assert run(tmp_path, "runtime", "--topics", "3", "--methods", "spa,nmf", "--repeats", "2") == 0
    folder = tmp_path / "runtime"
    assert {"tdt2.png", "reuters.png", "tables.md"} < {path.name for path in folder.iterdir()}
    values = Results(folder, "runtime").values
    assert len(values) == 2 * 2 * 2
    for seed, seconds in ((0, 9.0), (1, 7.0)):
        values[Cell("tdt2", "spa", 3, None, seed)]["seconds"] = seconds
    assert table_after("\n".join(runtime.tables(values)), "TDT2")[1][1] == "7.00"
    assert "best of 2" in capsys.readouterr().out


def test_example_shows_words_of_every_corpus(tmp_path, capsys):
    assert run(tmp_path, "example", "--methods", "anchorfree") == 0
    shown = capsys.readouterr().out
    assert shown == (tmp_path / "example" / "tables.md").read_text()
    assert shown.count("### anchorfree") == 3
    with open(tmp_path / "example" / "words.csv", newline="") as file:
        entries = [example.Entry(*row) for row in csv.reader(file)][1:]
    assert len(entries) == 3 * 5 * 20
    for name, word in (("reuters", "word"), ("newsgroups", "w")):
        # a topic is one class: its words are neighbours
        for topic in "12345":
            found = [e.word for e in entries if (e.corpus, e.topic) == (name, topic)]
            numbers = [int(text.removeprefix(word).removesuffix("x")) // WORDS_PER_CLASS for text in found]
            assert max(np.bincount(numbers)) >= 18
    assert run(tmp_path, "render", "example") == 0
    assert capsys.readouterr().out == shown


# --- the cones ---


def random_points(seed: int = 0) -> np.ndarray:
    points = cones.RADIUS_K * 1.2 * np.random.default_rng(seed).uniform(-1, 1, (4000, 2))
    return cones.from_slice(points)


def test_slice_and_back():
    X = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 5.0]])
    np.testing.assert_allclose(cones.from_slice(cones.to_slice(X)), X / X.sum(axis=1, keepdims=True), atol=1e-15)
    np.testing.assert_allclose(cones.B.T @ cones.B, np.eye(2), atol=1e-15)


def test_dual_K_is_in_the_orthant_and_the_orthant_in_K():
    X = random_points()
    dual, orthant, K = cones.in_dual_K(X), (X >= 0).all(axis=1), cones.in_K(X)
    assert 0 < dual.sum() < orthant.sum() < K.sum() < len(X)
    assert orthant[dual].all()
    assert K[orthant].all()


def test_K_and_its_dual_are_discs_in_the_slice():
    X = random_points()
    radius = np.linalg.norm(cones.to_slice(X), axis=1)
    np.testing.assert_array_equal(cones.in_K(X), radius <= cones.RADIUS_K)
    np.testing.assert_array_equal(cones.in_dual_K(X), radius <= cones.RADIUS_DUAL_K)


def test_K_and_its_dual_are_dual():
    X = random_points()
    inner = X[cones.in_K(X)] @ X[cones.in_dual_K(X)].T
    assert inner.min() >= -1e-9
    outside = X[~cones.in_dual_K(X)]
    edge = cones.from_slice(cones.RADIUS_K * np.array([[np.cos(a), np.sin(a)] for a in np.linspace(0, 7, 2000)]))
    assert ((outside @ edge.T).min(axis=1) < 1e-4).all()


def test_separable_cone_and_its_dual_are_the_orthant():
    C = cones.example_rows("separable")
    axes = np.eye(3)
    for polygon in (cones.cone_polygon(C), cones.dual_polygon(C)):
        corners = cones.from_slice(polygon)
        assert len(corners) == 3
        np.testing.assert_allclose(corners[np.argsort(corners.argmax(axis=1))], axes, atol=1e-9)
    assert cones.is_separable(C)
    assert cones.is_sufficiently_scattered(C)


@pytest.mark.parametrize("kind", ["separable", "scattered", "not scattered"])
def test_dual_polygon_is_where_C_is_nonnegative(kind):
    C = cones.example_rows(kind)
    X = random_points()
    by_definition = (C @ X.T).min(axis=0) >= 0
    np.testing.assert_array_equal(cones.contains(cones.from_slice(cones.dual_polygon(C)), X), by_definition)
    assert cones.contains(C, C).all()


def test_scattered_contains_the_inner_disc_and_not_scattered_does_not():
    X = random_points()
    inner = X[cones.in_dual_K(X)]
    scattered, other = cones.example_rows("scattered"), cones.example_rows("not scattered")
    assert cones.contains(scattered, inner).all()
    assert not cones.contains(other, inner).all()
    assert cones.is_sufficiently_scattered(scattered)
    assert not cones.is_separable(scattered)
    assert not cones.is_sufficiently_scattered(other)


@pytest.mark.parametrize(("t", "scattered"), [(0.32, True), (1 / 3, False), (0.34, False)])
def test_the_limit_is_where_the_dual_touches_K_off_the_axes(t, scattered):
    C = np.array([np.roll(row, k) for row in ([1 - t, t, 0], [1 - t, 0, t]) for k in range(3)])
    assert cones.is_sufficiently_scattered(C) is scattered


def test_cone_without_the_center_has_no_bounded_dual():
    C = np.array([[1.0, 0.0, 0.0], [0.8, 0.2, 0.0], [0.8, 0.0, 0.2]])
    assert not cones.is_sufficiently_scattered(C)
    with pytest.raises(ValueError, match="is unbounded"):
        cones.dual_polygon(C)


def test_figures_draws_the_cones_without_data(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("ANCHORLESS_DATA")
    assert run(tmp_path, "figures") == 0
    assert (tmp_path / "figures" / "cones.png").read_bytes().startswith(b"\x89PNG")
    assert "cones.png" in capsys.readouterr().out


# --- the faces ---


@pytest.mark.parametrize("name", command.EXPERIMENTS)
def test_every_command_has_an_example(name, capsys):
    with pytest.raises(SystemExit) as end:
        command.main([name, "--help"])
    assert end.value.code == 0
    assert f"example: python -m experiments {name} --quick" in capsys.readouterr().out


def test_experiments_import_only_public_names():
    for path in (ROOT / "experiments").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "anchorless":
                assert node.module == "anchorless", path.name
                assert {alias.name for alias in node.names} <= set(anchorless.__all__), path.name
