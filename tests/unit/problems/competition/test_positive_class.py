"""Which of two classes a metric counts is told where their names do not say it."""

from __future__ import annotations

import pandas as pd
import pytest

from problems.competition.grader.own_data.targets import Goal
from problems.competition.grader.split import _positive_class


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
