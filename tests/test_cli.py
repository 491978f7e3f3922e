import subprocess
import sys

import numpy as np
import pytest

from anchorless import __version__
from anchorless.cli import main, strongest_correlations


def test_demo_prints_topics_shares_and_correlations(capsys):
    assert main(["demo", "--topics", "6"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].split() == ["#", "share", "leading", "words"]
    assert [line.split()[0] for line in lines[1:7]] == list("012345")
    shares = [float(line.split()[1].rstrip("%")) for line in lines[1:7]]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(100, abs=0.5)
    assert "strongest correlations:" in out
    assert "docstrings of numpy, scipy, sklearn" in err
    assert "distribution" in out


def test_bad_number_of_topics_is_one_line_and_exit_code_1(capsys):
    assert main(["demo", "-k", "0"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1] == "anchorless: n_components=0, but it must be a whole number of at least 1"


def test_interrupt_is_exit_code_130(capsys, monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr("anchorless.cli.datasets.load_docstrings", interrupt)
    assert main(["demo"]) == 130
    assert "interrupted" in capsys.readouterr().err


def test_command_is_installed():
    run = subprocess.run(
        [sys.executable, "-m", "anchorless.cli", "--version"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0
    assert run.stdout.strip() == f"anchorless {__version__}"


def test_no_command_is_exit_code_2(capsys):
    with pytest.raises(SystemExit) as stop:
        main([])
    assert stop.value.code == 2


def test_strongest_correlations_are_of_either_sign_and_come_largest_first():
    R = np.array([[1.0, 0.2, -0.9], [0.2, 1.0, 0.5], [-0.9, 0.5, 1.0]])
    assert strongest_correlations(R, 2) == [(1, 2, 0.5), (0, 2, -0.9)]
