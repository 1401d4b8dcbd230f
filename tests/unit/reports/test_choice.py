"""Why another program was not chosen, from the record of real choices: the reason never contradicts the record."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.search.final_choice import choose
from core.state.node import Node
from reports.choice import CHAMPION, choice_rows, choice_table, rule_of, why_not
from reports.winner import Winner
from utils.direction import Direction


def winner(node_id="w", metric=1.0, place=0):
    return Winner(
        node_id=node_id, name=node_id, role="candidate", chosen=True, operator="improve", writer="rules", step=1,
        place=place, metric=metric, interval=None, metric_source="verified", final_metric=None, final_interval=None,
    )  # fmt: skip


def row(node_id, metric, size=10, tie=True):
    return {"node_id": node_id, "metric": metric, "size": size, "difference": 0.0, "error": 0.0, "tie": tie}


def facts(*rows, **more):
    final = {"node_id": "w", "choice": list(rows), **more.pop("final", {})}
    return {"family": "heuristic", "lower_is_better": False, "final": final, **more}


BETTER, OTHER = row("w", 1.0), row("o", 0.5, tie=False)
BESIDE = {"baselines": [{"node_id": "o", "name": "ridge", "metric": 2.0, "failure": None, "source": "verified"}]}

APART = "it is more than a standard error from the best of the choice, 3, and the chosen one, 1, is not"
SIMPLER = "the two cannot be told apart, and the chosen one is simpler: 14 against 55"


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (facts(BETTER, OTHER), "the chosen one scores better: 1 against 0.5"),
        (facts(row("w", 0.9), OTHER), "on a second look, at fresh cases too, the chosen one scores better: 0.9"),
        (facts(BETTER, OTHER, final={"looks": [{"node_id": "w"}]}), "by the mean of several scores the chosen one"),
        (facts(row("f", 3.0), BETTER, row("o", 1.2, tie=False)), APART),
        (facts(row("o", 1.5, 55), row("w", 1.0, 14)), SIMPLER),
        (facts(row("f", 3.0, 60), row("o", 1.5, 55), row("w", 1.0, 14)), "neither can be told apart from the best"),
        (facts(row("w", 1.0, 27), row("o", 1.0, 27)), "the two score the same and are equally simple (27 nodes"),
        (facts(BETTER, final={"chosen_from": {"top_k": 1}}), "it is not among the 1 best"),
        (facts(BETTER, final={"chosen_from": {"top_k": 5}}), "it has no score from when the best were scored again"),
        (facts(BETTER, **BESIDE), "a baseline beside the search wins where it is better than every candidate"),
        (facts(), "the run kept no record of its choice"),
        (facts(BETTER, OTHER, family="arena"), CHAMPION),
    ],
)  # fmt: skip
def test_each_reason(told, reason):
    assert why_not("o", winner(), told).startswith(reason)


def test_a_baseline_beside_the_search_that_won_is_better_than_all():
    told = {**facts(OTHER), "final": {"node_id": "b", "choice": [OTHER]}}
    assert why_not("o", winner("b", 2.0, None), told) == "b is better than every candidate on the parts that choose"


programs = st.lists(
    st.tuples(st.lists(st.integers(0, 3), min_size=4, max_size=4), st.integers(1, 3)), min_size=2, max_size=6
)


@given(programs, st.booleans(), st.integers(-1, 5))
def test_no_reason_contradicts_its_row(made, lower, baseline):
    nodes = [
        Node(id=f"n{place}", code="x = 1\n" * lines, signature=tuple(map(float, cases)), metric_value=sum(cases) / 4,
             operator="baseline" if place == baseline else "improve")
        for place, (cases, lines) in enumerate(made)
    ]  # fmt: skip
    top = Direction(lower).ranked(nodes, lambda node: node.metric_value)
    found = choose(top)
    known = {**facts(*found.rows), "lower_is_better": lower}
    known["final"]["node_id"] = found.winner.id
    chosen = winner(found.winner.id, found.winner.metric_value)
    rows = {one["node_id"]: one for one in choice_table(chosen, known)}
    mine = rows.pop(found.winner.id)
    assert mine["not_chosen"] == ""
    for other in rows.values():
        said = other["not_chosen"]
        assert ("scores better" in said) <= Direction(lower).better(mine["metric"], other["metric"])
        assert ("second look" in said) == ("several scores" in said) == False  # noqa: E712
        assert ("simpler" in said or "equally" in said or "the two" in said or "neither" in said) == other["tie"]
        sizes = [tuple(map(int, found)) for found in re.findall(r"simpler: (\d+) against (\d+)", said)]
        assert sizes == [(mine["size"], other["size"])] * ("simpler:" in said)
        assert all(winners < others for winners, others in sizes)
        assert ("equally simple" in said) == (other["tie"] and mine["size"] == other["size"])
        assert ("score the same" in said) <= (mine["metric"] == pytest.approx(other["metric"]))


def test_an_arena_tells_no_ties_and_its_own_rule():
    arena = facts(BETTER, OTHER, family="arena")
    assert all(not {"tie", "difference", "error"} & set(one) for one in choice_rows(arena))
    assert rule_of(winner(), arena).startswith("Champion of the last tournament")
    assert rule_of(winner(place=None), facts(BETTER)).startswith(
        "The baseline, scored beside the search, that is better"
    )


NEAR = {**row("o", 0.9), "difference": -0.1, "error": 0.2}


@pytest.mark.parametrize(
    ("family", "other", "said"),
    [
        ("heuristic", NEAR, "cannot be told apart"),
        ("heuristic", OTHER, "those that score the same"),
        ("competition", {**NEAR, "tie": False}, "those that score the same"),
        ("competition", NEAR, "cannot be told apart"),
    ],
    ids=["cases", "no cases", "a competition", "an older competition"],
)
def test_the_rule_is_the_one_that_the_choice_was_made_by(family, other, said):
    assert said in rule_of(winner(), facts(BETTER, other, family=family))


def test_baselines_beside_the_search_stand_in_the_table():
    told = choice_table(winner(), facts(BETTER, OTHER, **{"baselines": [{**BESIDE["baselines"][0], "node_id": "b"}]}))
    assert [(one["node_id"], one["name"]) for one in told] == [("w", None), ("o", None), ("b", "ridge")]
    assert told[2]["not_chosen"].startswith("a baseline beside the search") and told[2]["size"] is None
