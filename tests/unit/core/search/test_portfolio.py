"""The portfolio gives its steps to the way that gains, and finds another when that one is used up."""

from __future__ import annotations

import random
from collections import Counter

from core.search.portfolio import OF_OPERATOR, PortfolioOptions, PortfolioPolicy
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node


def searched(gainers, steps=120, cost=None, options=None, **fields):
    """Run the policy where only the ways in `gainers` (by step) improve; the ways that were chosen, in order."""
    policy, journal, score, chosen = PortfolioPolicy(options), Journal(), 0.0, []
    for step in range(steps):
        proposal = policy.ask(journal, random.Random(step), 1)[0]
        way = OF_OPERATOR[proposal.operator]
        chosen.append(way)
        gains = way == gainers(step)
        score += gains
        price = (cost or {}).get(way)
        node = Node(
            id=str(step), code=f"x{step} = 0", operator=proposal.operator, parent_ids=proposal.parents,
            metric_value=score if gains or not step else score - 1 - step / 1000, signature=(float(step),),
            cost_usd=price, island=proposal.island,
        )  # fmt: skip
        if proposal.operator in fields:
            node = node.model_copy(
                update={"metric_value": None, "is_buggy": True, "failure": fields[proposal.operator]}
            )
        policy.tell(journal, journal.append(node))
    return chosen


def test_the_way_that_gains_gets_most_steps_and_loses_them_when_it_is_used_up():
    chosen = searched(lambda step: "restart" if step < 60 else "islands")
    assert Counter(chosen[20:60]).most_common(1)[0][0] == "restart"
    late = Counter(chosen[80:])
    assert late.most_common(1)[0][0] == "islands" and late["islands"] > 20
    assert all(late[way] for way in ("phases", "tune", "restart")), "the others are still tried"


def test_of_two_that_gain_alike_the_cheap_one_is_chosen():
    chosen = searched(
        lambda step: ("islands", "phases")[step % 2], cost={"islands": 0.001, "phases": 0.01, "restart": 0.01}
    )
    count = Counter(chosen[20:])
    assert count["islands"] > count["phases"]


def test_an_evaluator_that_cannot_tune_is_asked_once():
    assert Counter(searched(lambda step: "islands", tune=FailureKind.EVAL_ERROR))["tune"] == 1
    assert "tune" not in searched(lambda step: "islands", options=PortfolioOptions(tune=False))


def test_a_form_is_tuned_once_and_the_best_other_one_next():
    policy, journal = PortfolioPolicy(PortfolioOptions(num_drafts=1)), Journal()
    codes = ["def f(x):\n    return x * 2.5", "def f(x):\n    return x * -3", "def f(x):\n    return x + 2.5"]
    for place, code in enumerate(codes):
        node = Node(id=str(place), code=code, operator="draft", metric_value=3.0 - place, signature=(float(place),))
        policy.tell(journal, journal.append(node))
    assert [proposal.parents for proposal in tunings(policy, journal)] == [("0",), ("2",)]
    tuned = Node(id="t", code=codes[0], operator="tune", parent_ids=("0",), metric_value=9.0, signature=(9.0,))
    policy.tell(journal, journal.append(tuned))
    assert [proposal.parents for proposal in tunings(policy, journal)] == [("2",)]


def tunings(policy, journal):
    return [one for one in policy.ask(journal, random.Random(3), 12) if one.operator == "tune"]
