import json

import numpy as np
import pytest
import scipy.sparse as sp

from anchorless._distributed import client as clients
from tests.helpers.command_runs import FILES, get_refusal, planted, read_csv, run, write_planted  # noqa: F401


def test_a_fit_on_a_cluster_writes_the_files_of_one_on_this_machine(run, planted, tmp_path, client):  # noqa: F811
    ran = run("fit", planted / "a.csv", "-k", "4", "-o", "there", "--dask", client.scheduler.address)
    assert ran.code == 0, ran.err
    assert tuple(sorted(path.name for path in (tmp_path / "there").iterdir())) == FILES
    for name in ("topics.csv", "documents.csv", "correlation.csv"):
        assert read_csv(tmp_path / "there" / name) == read_csv(planted / "a-topics" / name)


def test_counts_are_fitted_on_a_cluster_that_a_file_names(run, tmp_path, client):  # noqa: F811
    (tmp_path / "scheduler.json").write_text(json.dumps({"address": client.scheduler.address}))
    sp.save_npz(tmp_path / "x.npz", sp.csr_matrix(np.random.default_rng(0).poisson(0.4, (60, 30))))
    for folder, extra in (("here", ()), ("there", ("--dask", "scheduler.json"))):
        ran = run("fit", "x.npz", "-k", "3", "-o", folder, "--quiet", *extra)
        assert ran.code == 0, ran.err
    for name in ("topics.csv", "documents.csv"):
        assert read_csv(tmp_path / "here" / name) == read_csv(tmp_path / "there" / name)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "no-such-file.json", "nonsense://x"])
def test_a_scheduler_that_does_not_answer_is_one_line(run, tmp_path, monkeypatch, address):  # noqa: F811
    monkeypatch.setattr(clients, "CONNECT_TIMEOUT", 1)
    write_planted(tmp_path / "a.csv")
    message = get_refusal(run("fit", "a.csv", "-k", "3", "--dask", address))
    assert f"no Dask scheduler answers at {address}" in message
    assert "dask scheduler" in message
    assert not (tmp_path / "a-topics").exists()
