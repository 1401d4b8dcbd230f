"""Which of two classes a metric counts is told where their names do not say it."""

from __future__ import annotations

import pandas as pd
import pytest

from problems.competition.grader.own_data.targets import Goal, fractions_as_classes
from problems.competition.grader.split import _positive_class
from problems.competition.grader.tables.columns import instead


def test_a_metric_of_classes_for_numbers_with_fractions_is_told():
    """Each number was a class of its own, and the search went on without a word."""
    minutes = pd.DataFrame({"minutes": [20 + k / 4 for k in range(60)], "stars": [k % 5 + 0.5 for k in range(60)]})
    (told,) = fractions_as_classes(minutes, ["minutes", "stars"], "auc", Goal("classes"))
    assert told.startswith("data.metric=auc takes each of the 60 numbers in 'minutes' (20, …) for a class")
    assert not [*fractions_as_classes(minutes, ["minutes"], "mae", Goal("regression"))]
    assert not [*fractions_as_classes((minutes * 4).round(), ["minutes"], "auc", Goal("classes"))]


def test_a_misspelt_target_is_told_the_column_that_is_most_like_it(tmp_path):
    (tmp_path / "train.csv").write_text("a,minutes\n1,2\n")
    columns = [*map(str, range(12)), "minutes"]
    assert instead("minuts", columns, tmp_path / "train.csv").startswith("; did you mean minutes? Columns are 0, 1, ")
    assert instead("price", columns, tmp_path / "train.csv").startswith("; columns are 0, 1, ")


@pytest.mark.parametrize(
    ("pair", "is_told"),
    [(("No", "Yes"), False), ((False, True), False), ((0, 1), False), (("F", "T"), False), (("ill", "well"), True),
     (("y", "z"), True), ((1, 2), True)],
)  # fmt: skip
def test_of_a_pair_that_everybody_reads_alike_nothing_is_told(pair, is_told):
    shown = pd.DataFrame({"kind": [*pair, pair[0]]})
    told = [*_positive_class(shown, ["kind"], Goal("probability"), {"metric": "auc"})]
    counted = f"the metric counts '{pair[1]}' as 1 and '{pair[0]}' as 0, in sorted order; "
    assert told == [f"{counted}the other way round: --data.classes={pair[1]},{pair[0]}"] * is_told
    assert [*_positive_class(shown, ["kind"], Goal("labels"), {"metric": "accuracy"})] == []
