"""What every SearchPolicy must do: all of the registry, each with its defaults and with the variants named here."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from core.contracts import Proposal, SearchPolicy
from core.search.control import is_control
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node
from runs.parts.policies import policy_of
from utils.config import check_config
from utils.strategies import POLICIES

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "islands": [
        {"num_islands": 2, "per_island": 3, "migration_interval": 2, "tune_interval": 2},
        {
            "num_islands": 3, "per_island": 2, "selection": "softmax", "migration": "ring", "reset_evaluations": 20,
            "refine_interval": 3,
        },
        {
            "num_islands": 1, "per_island": 2, "stagnation_restart": 2,
            "grid": {"length": {"low": 0, "high": 60, "bins": 6}},
        },
    ],
    "three_phase": [{"num_drafts": 3, "max_debug_depth": 2, "merge_prob": 0.2}],
    "mcts": [{"num_drafts": 3, "max_debug_depth": 2, "merge_prob": 0.2}],
    "portfolio": [{"num_drafts": 2, "num_islands": 3, "crossover_prob": 0.6, "crossover_kin": False}, {"tune": False}],
    "generations": [{"questions": 4, "repairs": 0}],
}  # fmt: skip
"""Options that lead a policy through its further branches; a new policy needs no line here."""
CASES = [(name, options, 0.0) for name in POLICIES.names() for options in ({}, *VARIANTS.get(name, ()))]
CASES += [(name, {}, 0.3) for name, spec in POLICIES.all(()).items() if not spec.whole_rounds]
"""(name of a policy, its options, its share of control draws)"""
K = 4


def outcome(proposal: Proposal, number: int, journal: Journal, place: int) -> Node:
    """A made-up verdict: a function of place and parents only."""
    dice = random.Random(f"{number}/{place}")
    above = [journal[parent].metric_value or 0.0 for parent in proposal.parents]
    fate = dice.random()
    score = max(above, default=0.0) + dice.gauss(0, 1)
    failed, duplicate = fate < 0.2, 0.2 <= fate < 0.3
    return Node(
        id=f"{number}.{place}",
        code=f"x = {number}.{place}" + "#" * dice.randrange(50),
        operator=proposal.operator,
        parent_ids=proposal.parents,
        generation=proposal.generation,
        island=proposal.island,
        slot=proposal.slot,
        metric_value=None if failed or duplicate else score,
        is_buggy=failed,
        failure=FailureKind.RUNTIME if failed else None,
        is_valid=not duplicate,
        signature=() if failed or duplicate else (round(score, 6),),
        duplicate_of="base" if duplicate else None,
    )


def play(policy: SearchPolicy, journal: Journal, rounds: range) -> list[list[Proposal]]:
    asked = []
    for number in rounds:
        proposals = policy.ask(journal, random.Random(f"ask/{number}"), K)
        asked.append(proposals)
        for node in [outcome(proposal, number, journal, i) for i, proposal in enumerate(proposals)]:
            policy.tell(journal, journal.append(node))
    return asked


def start(policy: SearchPolicy) -> Journal:
    journal = Journal(lower_is_better=False)
    policy.tell(journal, journal.append(Node(id="base", code="pass", operator="baseline", metric_value=0.0)))
    return journal


@pytest.fixture(params=CASES, ids=lambda case: "-".join([case[0], *map(str, case[1]), str(case[2])]))
def case(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any], float]:
    """One of CASES."""
    return request.param


@pytest.fixture
def make(case: tuple[str, dict[str, Any], float]) -> Callable[[], SearchPolicy]:
    name, options, control = case
    search = {"policy": name, name: options, "control": control}
    return lambda: policy_of(check_config({"search": search, "project": {"seed": 1}}))


def test_proposes_only_the_operators_that_its_spec_names(case, make):
    policy = make()
    journal = start(policy)
    used = {proposal.operator for round_ in play(policy, journal, range(40)) for proposal in round_}
    assert used <= {*POLICIES.get(case[0]).operators, *(["control"] if case[2] else [])}


def test_control_draws_are_a_function_of_the_step(case, make):
    policy = make()
    play(policy, journal := start(policy), range(40))
    steps = [node.operator == "control" for node in journal if node.operator != "baseline"]
    assert steps == [is_control(step, case[2]) for step in range(len(steps))]
    assert sum(steps) == int(len(steps) * case[2] + 1e-9)


def test_generations_are_as_long_as_the_options_say(case, make):
    """`generation_size` nodes have one number; None: they have none."""
    size = check_config({"search": {"policy": case[0], case[0]: case[1]}}).search.options.generation_size
    policy = make()
    journal = start(policy)
    searched = [proposal for round_ in play(policy, journal, range(40)) for proposal in round_]
    numbers = [proposal.generation for proposal in searched if proposal.operator != "control"]
    if size is None:
        assert set(numbers) == {None}
    else:
        assert all(numbers.count(number) == min(size, K) if size < K else size for number in set(numbers[: -2 * size]))


def test_proposes_one_to_k_in_slot_order_from_known_sound_parents(make):
    policy = make()
    journal = start(policy)
    for number in range(30):
        proposals = policy.ask(journal, random.Random(number), K)
        assert 1 <= len(proposals) <= K
        places = [(proposal.generation, proposal.slot) for proposal in proposals if proposal.operator != "control"]
        assert places == sorted(places)
        for proposal in proposals:
            assert all(parent in journal for parent in proposal.parents)
            assert all(journal[parent].is_valid for parent in proposal.parents)
            Proposal.model_validate_json(proposal.model_dump_json())
        for node in [outcome(proposal, number, journal, i) for i, proposal in enumerate(proposals)]:
            policy.tell(journal, journal.append(node))


def test_asking_changes_nothing(make):
    asked_once, asked_often = make(), make()
    journals = start(asked_once), start(asked_often)
    for number in range(20):
        for _ in range(3):
            asked_often.ask(journals[1], random.Random(99), K)
        assert play(asked_once, journals[0], range(number, number + 1)) == play(
            asked_often, journals[1], range(number, number + 1)
        )


def test_same_seed_same_search(make):
    first, second = make(), make()
    one, two = start(first), start(second)
    assert play(first, one, range(25)) == play(second, two, range(25))
    assert one.sha256 == two.sha256


@pytest.mark.parametrize("rounds", [1, 7, 20])
def test_telling_again_resumes(make, rounds):
    policy = make()
    journal = start(policy)
    play(policy, journal, range(rounds))
    resumed, replayed = make(), Journal(lower_is_better=False)
    for node in journal:
        resumed.tell(replayed, replayed.append(node.model_copy(update={"children_ids": ()})))
    assert play(policy, journal, range(rounds, rounds + 8)) == play(resumed, replayed, range(rounds, rounds + 8))
    assert journal.sha256 == replayed.sha256


def test_goes_on_when_everything_fails(make):
    policy = make()
    journal = Journal(lower_is_better=False)
    for number in range(20):
        proposals = policy.ask(journal, random.Random(number), K)
        assert proposals
        for place, proposal in enumerate(proposals):
            node = outcome(proposal, number, journal, place).model_copy(
                update={"metric_value": None, "is_buggy": True, "is_valid": True, "signature": (),
                        "failure": FailureKind.RUNTIME, "duplicate_of": None}
            )  # fmt: skip
            policy.tell(journal, journal.append(node))
