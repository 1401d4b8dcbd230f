"""What a run says of the programs that are the best in some way and were not chosen."""

from __future__ import annotations

import pytest

from reports.choice import Runner
from reports.conclusion import Conclusion
from reports.verdict import Verdict


def _runner(node_id: str) -> Runner:
    return Runner(node_id=node_id, name=node_id, metric=1.0, why_not="the winner is better")


@pytest.mark.parametrize(
    ("on_validation", "of_search", "told"),
    [
        ("a", "a", ["best on validation"]),
        ("a", "b", ["best on validation", "best of the search"]),
        (None, "b", ["best of the search"]),
    ],
)
def test_one_program_is_told_once_to_people_and_both_facts_stay_for_programs(on_validation, of_search, told):
    found = Conclusion(
        winner=None,
        best_on_validation=_runner(on_validation) if on_validation else None,
        best_of_search=_runner(of_search),
        verdict=Verdict(kind="no_gain", text=""),
    )
    assert list(found.not_chosen) == told
    assert found.model_dump()["best_of_search"]["node_id"] == of_search
