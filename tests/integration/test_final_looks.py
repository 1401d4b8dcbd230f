"""How often a final part was looked at: each look of a run once, and a second look at a run is none."""

from __future__ import annotations

import csv

import pytest

from problems.competition.source import find_source
from utils.config import load_config


def revealed(cli) -> list[str]:
    """Lines of the count of the only data set of this folder."""
    (path,) = (cli.folder / "workspaces" / ".prepared").glob("reveals-*.log")
    return path.read_text().split()


@pytest.mark.long
@pytest.mark.usefixtures("inline")
def test_a_run_looks_once_and_who_verifies_it_not_at_all(cli):
    words = ("--problem.name=diabetes", "search.max_steps=1")
    assert cli.here(*words).code == 0
    assert cli.show()["final"]["detail"]["final_reveals"] == len(revealed(cli)) == 1
    (first,) = cli.runs
    verified = cli.here("replay", first.name, "--verify")
    assert verified.code == 0 and "equal: " in verified.out
    assert cli.here("resume", first.name).code == 0
    assert len(revealed(cli)) == 1
    second = cli.here(*words, "project.seed=7")
    assert len(revealed(cli)) == 2 and "this final part has been revealed 2 times" in second.out


def test_other_hidden_rows_are_another_final_part(tmp_path):
    with (tmp_path / "train.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["day", "y"], *([n, n % 7] for n in range(40))])

    def part(*words):
        own = [f"data.dir={tmp_path}", "data.target=y", "data.metric=rmse", f"project.dir={tmp_path}/project"]
        return find_source(load_config(None, [*own, *words])).identity()

    assert part() == part("data.split=random", "search.max_steps=9")
    assert len({part(), part("data.split=time:day"), part("problem.options.split_seed=3")}) == 3
