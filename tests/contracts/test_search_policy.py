"""What every SearchPolicy must do. A new policy registers by one line in POLICIES."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from core.contracts import Proposal, SearchPolicy
from core.search.islands import IslandsPolicy
from core.search.mcts import MCTSPolicy
from core.search.three_phase import ThreePhasePolicy
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node

POLICIES: dict[str, Callable[[], SearchPolicy]] = {
    "islands": lambda: IslandsPolicy(num_islands=2, per_island=3, migration_interval=2, tune_interval=2, seed=1),
    "islands_softmax": lambda: IslandsPolicy(
        num_islands=3, per_island=2, selection="softmax", migration="ring", reset_evaluations=20, refine_interval=3
    ),
    "islands_grid": lambda: IslandsPolicy(
        num_islands=1, per_island=2, stagnation_restart=2, grid={"length": {"low": 0, "high": 60, "bins": 6}}
    ),
    "three_phase": lambda: ThreePhasePolicy(3, 0.5, 2, 0.2),
    "mcts": lambda: MCTSPolicy(3, 2, 0.2, 1.4),
}
K = 4


def outcome(proposal: Proposal, number: int, journal: Journal) -> Node:
    """A made-up verdict: a function of place and parents only."""
    dice = random.Random(f"{number}/{proposal.slot}")
    above = [journal[parent].metric_value or 0.0 for parent in proposal.parents]
    fate = dice.random()
    score = max(above, default=0.0) + dice.gauss(0, 1)
    failed, duplicate = fate < 0.2, 0.2 <= fate < 0.3
    return Node(
        id=f"{number}.{proposal.slot}",
        code=f"x = {number}.{proposal.slot}" + "#" * dice.randrange(50),
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
        metadata={"duplicate_of": "base"} if duplicate else {},
    )


def play(policy: SearchPolicy, journal: Journal, rounds: range) -> list[list[Proposal]]:
    asked = []
    for number in rounds:
        proposals = policy.ask(journal, random.Random(f"ask/{number}"), K)
        asked.append(proposals)
        for node in [outcome(proposal, number, journal) for proposal in proposals]:
            policy.tell(journal, journal.append(node))
    return asked


def start(policy: SearchPolicy) -> Journal:
    journal = Journal(False)
    policy.tell(journal, journal.append(Node(id="base", code="pass", operator="baseline", metric_value=0.0)))
    return journal


@pytest.fixture(params=POLICIES, ids=str)
def make(request: pytest.FixtureRequest) -> Callable[[], SearchPolicy]:
    return POLICIES[request.param]


def test_proposes_one_to_k_in_slot_order_from_known_sound_parents(make):
    policy = make()
    journal = start(policy)
    for number in range(30):
        proposals = policy.ask(journal, random.Random(number), K)
        assert 1 <= len(proposals) <= K
        slots = [proposal.slot for proposal in proposals]
        assert slots == sorted(slots)
        for proposal in proposals:
            assert all(parent in journal for parent in proposal.parents)
            assert all(journal[parent].is_valid for parent in proposal.parents)
            Proposal.model_validate_json(proposal.model_dump_json())
        for node in [outcome(proposal, number, journal) for proposal in proposals]:
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
    resumed, replayed = make(), Journal(False)
    for node in journal:
        resumed.tell(replayed, replayed.append(node.model_copy(update={"children_ids": ()})))
    assert play(policy, journal, range(rounds, rounds + 8)) == play(resumed, replayed, range(rounds, rounds + 8))
    assert journal.sha256 == replayed.sha256


def test_goes_on_when_everything_fails(make):
    policy = make()
    journal = Journal(False)
    for number in range(20):
        proposals = policy.ask(journal, random.Random(number), K)
        assert proposals
        for proposal in proposals:
            node = outcome(proposal, number, journal).model_copy(
                update={"metric_value": None, "is_buggy": True, "is_valid": True, "signature": (),
                        "failure": FailureKind.RUNTIME, "metadata": {}}
            )  # fmt: skip
            policy.tell(journal, journal.append(node))
