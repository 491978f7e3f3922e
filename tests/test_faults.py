"""Some of the faults that `make faults` tries at every disk call of every command."""

import pytest

from tests.helpers.faults import EARLIER, inject, make_scenarios


@pytest.fixture(scope="module")
def scenarios(tmp_path_factory):
    base = tmp_path_factory.mktemp("faults") / "base"
    base.mkdir()
    return base, {scenario.name: scenario for scenario in make_scenarios(base, [EARLIER[0], *EARLIER[2:4]])}


@pytest.mark.parametrize(
    ("name", "kind", "step"),
    [
        ("convert", "kill", 5),
        ("convert", "full", 9),
        ("edit", "kill", 3),
        ("apply", "short", 3),
        ("apply", "read", 1),
    ],
)
def test_files_are_all_old_or_all_new_and_a_second_run_makes_them_new(scenarios, name, kind, step):
    base, known = scenarios
    n, wrong = inject(known[name], base, kind, step)
    assert n > 1
    assert wrong == []
