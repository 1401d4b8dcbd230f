"""Refits with several seeds: which numbers of a program are seeds, and how submissions become one."""

from __future__ import annotations

from pathlib import Path

import pytest

from problems.competition.bagging import bagged, reseeded


def test_seeds_given_by_number_or_name_are_others_in_each_program():
    lines = ["a(random_state=1)", "for seed in (0, 1):", "    b(random_state=seed, max_iter=3)"]
    code = "\n".join([*lines, "c(seed=None, random_state=rng)\n"])
    other = reseeded(code, 2)
    assert "a(random_state=1 + 2000)" in other and "b(random_state=seed + 2000, max_iter=3)" in other
    assert "c(seed=None, random_state=rng)" in other
    assert reseeded(code, 0) == code and reseeded("not python (", 1) == "not python ("


@pytest.mark.parametrize(
    ("labels", "values", "made", "how"),
    [(False, ["1", "2", "6"], "3.0", "mean"), (True, ["1", "2", "2"], "2", "vote"),
     (True, ["b", "a", "c"], "b", "vote"), (False, ["x", "y", "y"], "y", "vote")],
)  # fmt: skip
def test_numbers_are_averaged_and_classes_vote(tmp_path: Path, labels, values, made, how):
    paths = [tmp_path / f"{number}.csv" for number in range(3)]
    for number, path in enumerate(paths):
        rows = [f"007,{values[number]}", f"8,{values[number]}"]
        path.write_text("\n".join(["id,y", *(rows if number else reversed(rows))]) + "\n")
    exam = {"id": "id", "targets": ["y"], "labels": labels}
    assert bagged(paths, tmp_path / "all.csv", exam) == how
    assert (tmp_path / "all.csv").read_text() == f"id,y\n8,{made}\n007,{made}\n"
