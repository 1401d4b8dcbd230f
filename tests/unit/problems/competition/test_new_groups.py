"""What is told of a test whose rows are of other groups, or newer; and of how few that says nothing."""

from __future__ import annotations

import pandas as pd
import pytest

from problems.competition.grader.own_data.new_groups import FEWEST, told_new_groups, told_newer


def tables(groups: int, each: int = 3) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training and test, of as many patients and as many rows of each, none of them in both."""
    rows = [f"p{group}" for group in range(groups) for _ in range(each)]
    train = pd.DataFrame({"patient_id": rows, "year": range(2000, 2000 + len(rows))})
    return train, pd.DataFrame({"patient_id": [f"other {name}" for name in rows], "year": train["year"] + len(rows)})


@pytest.mark.parametrize(("groups", "each", "is_told"), [(FEWEST, 3, True), (FEWEST - 1, 3, False), (60, 1, False)])
def test_other_groups_are_told_where_they_are_many_and_have_several_rows(groups, each, is_told):
    train, test = tables(groups, each)
    told = [*told_new_groups(list(train), train.__getitem__, test)]
    assert [line.partition(":")[0] for line in told] == ["patient_id"] * is_told
    assert not [*told_new_groups(list(train), train.__getitem__, pd.concat([test, train.head(1)]))], "one in common"


@pytest.mark.parametrize("rows", [FEWEST - 1, FEWEST])
def test_newer_rows_are_told_where_they_are_many(rows):
    train, test = tables(20)
    told = [*told_newer(list(train), train.__getitem__, test.head(rows))]
    assert [line.partition(":")[0] for line in told] == ["year"] * (rows >= FEWEST)
    older = test.head(rows).assign(year=lambda table: table["year"] - 30)
    assert not [*told_newer(list(train), train.__getitem__, older)], "some of training are as new"
