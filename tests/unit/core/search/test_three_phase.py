from __future__ import annotations

import random

import pytest

from core.search.three_phase import DEBUG_POOL, ThreePhaseOptions, ThreePhasePolicy
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node


def make(**options) -> ThreePhasePolicy:
    return ThreePhasePolicy(ThreePhaseOptions(**options))


def ask(policy, journal, k=1, seed=0):
    return policy.ask(journal, random.Random(seed), k)


def test_drafts_of_the_same_round_count(node):
    journal = Journal(nodes=[node("a"), node("b"), node("c"), node("d")])
    proposals = ask(make(num_drafts=5, debug_prob=0, merge_prob=0), journal, k=3)
    assert [p.operator for p in proposals] == ["draft", "improve", "improve"]
    assert [p.slot for p in proposals] == [0, 1, 2]


def test_initial_programs_of_the_user_count_as_drafts_but_baselines_and_forks_do_not(node):
    journal = Journal(nodes=[node("u", operator="user"), node("b", operator="baseline")])
    journal.append(node("f", operator="user", parents=("u",)))
    assert ask(make(num_drafts=1), journal)[0].operator != "draft"
    assert ask(make(num_drafts=2), journal)[0].operator == "draft"


def test_failed_and_duplicate_drafts_are_not_drafted_again(node):
    journal = Journal(nodes=[node("a", None), node("b", None, is_valid=False), node("c", 1.0)])
    assert ask(make(num_drafts=3, debug_prob=0, merge_prob=0), journal)[0].parents == ("c",)


@pytest.mark.parametrize(("lower", "best"), [(True, "low"), (False, "high")])
def test_improves_the_best_in_the_problems_direction(node, lower, best):
    journal = Journal(lower_is_better=lower, nodes=[node("low", 1.0), node("high", 2.0)])
    (proposal,) = ask(make(num_drafts=1, merge_prob=0), journal)
    assert (proposal.operator, proposal.parents) == ("improve", (best,))


def test_debugs_in_debug_prob_of_the_cases(node):
    journal = Journal(nodes=[node("good"), node("bad", None)])
    policy = make(num_drafts=1, debug_prob=0.3, merge_prob=0)
    debugged = sum(ask(policy, journal, seed=s)[0].operator == "debug" for s in range(2000))
    assert abs(debugged - 600) < 3 * (2000 * 0.3 * 0.7) ** 0.5


def test_a_failure_is_debugged_max_debug_depth_times(node):
    journal = Journal(nodes=[node("0", None)])
    policy = make(num_drafts=1, debug_prob=1, max_debug_depth=3)
    for step in range(1, 4):
        (proposal,) = ask(policy, journal)
        assert (proposal.operator, proposal.parents) == ("debug", (str(step - 1),))
        journal.append(node(str(step), None, "debug", proposal.parents))
    assert ask(policy, journal)[0].operator == "draft", "the chain is at its end and nothing is good"


def test_a_round_does_not_debug_one_failure_twice(node):
    journal = Journal(nodes=[node("a", None), node("b", None)])
    proposals = ask(make(num_drafts=1, debug_prob=1), journal, k=3)
    assert [p.operator for p in proposals] == ["debug", "debug", "draft"]
    assert {p.parents for p in proposals[:2]} == {("a",), ("b",)}


def test_nothing_to_debug_where_there_is_no_program(node):
    empty = node("a", None, code="").model_copy(update={"failure": FailureKind.NO_CODE})
    lost = node("b", None).model_copy(update={"failure": FailureKind.LOST_WORKER})
    assert ask(make(num_drafts=1, debug_prob=1), Journal(nodes=[empty, lost]))[0].operator == "draft"


def test_merges_the_best_with_one_of_another_line(node):
    journal = Journal(nodes=[node("a", 3.0), node("b", 1.0)])
    journal.append(node("a2", 2.9, "improve", ("a",)))
    (proposal,) = ask(make(num_drafts=1, debug_prob=0, merge_prob=1), journal)
    assert (proposal.operator, proposal.parents) == ("merge", ("a", "b"))
    assert proposal.why["partner"] == "b"


def test_a_single_good_node_cannot_be_merged(node):
    (proposal,) = ask(make(num_drafts=1, debug_prob=0, merge_prob=1), Journal(nodes=[node("a")]))
    assert proposal.operator == "improve"


def test_banned_nodes_are_never_parents(node, search):
    journal = Journal()
    policy = make(num_drafts=3, merge_prob=0.5)
    search(policy, journal, 20)
    for banned in [journal.top(1)[0].id, *(n.id for n in journal.buggy_leaves())]:
        journal.marks[banned] = "banned"
    parents = {p for s in range(200) for proposal in ask(policy, journal, 3, s) for p in proposal.parents}
    assert parents and not parents & set(journal.marks)


def test_pinned_nodes_come_first(node):
    journal = Journal(nodes=[node("best", 9.0), node("pin", 1.0), node("bad", None), node("worse", None)])
    journal.marks |= {"pin": "pinned", "worse": "pinned"}
    policy = make(num_drafts=1, debug_prob=0.5, merge_prob=0)
    seen = {(p.operator, p.parents) for s in range(50) for p in ask(policy, journal, 1, s)}
    assert seen == {("improve", ("pin",)), ("debug", ("worse",))}


def test_why_names_rule_candidates_scores_and_draw(node):
    journal = Journal(nodes=[node("good", 2.0), node("bad", None)])
    why = ask(make(num_drafts=1, debug_prob=0, merge_prob=0), journal)[0].why
    assert why["rule"].startswith("improve")
    assert why["candidates"] == [{"node_id": "good", "metric": 2.0, "failure": None}]
    assert 0 <= why["draw"] < 1 and 0 <= why["debug_draw"] < 1


def test_cost_of_asking_does_not_grow_with_the_failures(node):
    journal = Journal(nodes=[node(str(i), None) for i in range(5000)])
    proposal = ask(make(num_drafts=1, debug_prob=1), journal)[0]
    assert proposal.why["count"] == DEBUG_POOL
    assert int(proposal.parents[0]) >= 5000 - DEBUG_POOL


def test_the_search_finds_better_programs_than_it_starts_with(search):
    journal = Journal()
    search(make(), journal, 100)
    assert journal.get_best_node().metric_value > 3 * max(n.metric_value or 0 for n in journal.draft_nodes)


def test_the_programs_own_estimate_decides_where_scores_cannot_be_told_apart():
    cases = {"best": (0.10, 0.14, 0.09), "near": (0.12, 0.11, 0.11), "far": (0.30, 0.31, 0.32)}
    scores = {"best": 0.110, "near": 0.1133, "far": 0.31}
    told, silent = Journal(lower_is_better=True), Journal(lower_is_better=True)
    for name, own in {"best": 0.125, "near": 0.115, "far": 0.05}.items():
        node = Node(id=name, code=name, metric_value=scores[name], signature=cases[name])
        silent.append(node)
        told.append(node.model_copy(update={"claimed_metric": own}))
    policy = ThreePhasePolicy(ThreePhaseOptions(num_drafts=1, merge_prob=0.0))
    assert policy.ask(silent, random.Random(1), 1)[0].parents == ("best",)
    assert policy.ask(told, random.Random(1), 1)[0].parents == ("near",), "within the noise, better by its own word"
