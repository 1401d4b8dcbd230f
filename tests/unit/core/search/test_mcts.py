from __future__ import annotations

import math
import random

import pytest

from core.search.mcts import MCTSOptions, MCTSPolicy
from core.state.journal import Journal


def make(**options) -> MCTSPolicy:
    return MCTSPolicy(MCTSOptions(**options))


def ask(policy, journal, k=1, seed=0):
    return policy.ask(journal, random.Random(seed), k)


def filled(policy, nodes, **kwargs):
    journal = Journal(**kwargs)
    for node in nodes:
        policy.tell(journal, journal.append(node))
    return journal


def test_drafts_first_and_the_rounds_own_drafts_count(node):
    policy = make(num_drafts=3, merge_prob=0)
    journal = filled(policy, [node("a"), node("u", operator="user")])
    assert [p.operator for p in ask(policy, journal, 3)] == ["draft", "improve", "improve"]


def test_reward_is_the_rank_among_the_scored_so_far(node):
    policy = make()
    nodes = [node("a", 1.0), node("b", 2.0), node("c", None), node("d", 1.5)]
    journal = filled(policy, nodes)
    rewards = [journal.visits(i)[1] for i in "abcd"]
    assert rewards == pytest.approx([1.0, 1.0, 0.0, 2 / 3])


def test_rewards_flow_back_along_first_parents(node):
    policy = make()
    nodes = [node("a", 1.0), node("b", 5.0), node("m", 9.0, "merge", ("a", "b")), node("n", None, "improve", ("m",))]
    journal = filled(policy, nodes)
    assert journal.visits("a") == (3, 2.0)
    assert journal.visits("m") == (2, 1.0)
    assert journal.visits("b") == (1, 1.0), "the second parent of a merge gets no credit"


def test_uct_is_the_formula(node):
    policy = make(num_drafts=2, exploration=1.0, merge_prob=0)
    journal = filled(policy, [node("a", 1.0), node("b", 2.0)])
    (proposal,) = ask(policy, journal)
    scores = {c["node_id"]: c["uct"] for c in proposal.why["candidates"]}
    assert scores["a"] == pytest.approx(1.0 + math.sqrt(math.log(2) / 1))
    assert proposal.why["chosen"] == "a", "equal scores: the earlier"


def test_without_exploration_the_better_branch_is_taken(node):
    policy = make(num_drafts=2, exploration=0.0, merge_prob=0)
    journal = filled(policy, [node("a", 2.0), node("b", 1.0)])
    assert ask(policy, journal)[0].parents == ("a",)


def test_a_round_spreads(node):
    policy = make(num_drafts=4, merge_prob=0)
    journal = filled(policy, [node(i, 1.0) for i in "abcd"])
    assert len({p.parents for p in ask(policy, journal, 4)}) == 4


def test_failed_nodes_are_debugged_to_the_depth_and_then_left(node):
    policy = make(num_drafts=1, max_debug_depth=2)
    journal = filled(policy, [node("0", None)])
    for step in (1, 2):
        (proposal,) = ask(policy, journal)
        assert (proposal.operator, proposal.parents) == ("debug", (str(step - 1),))
        policy.tell(journal, journal.append(node(str(step), None, "debug", proposal.parents)))
    assert ask(policy, journal)[0].operator == "draft"


def test_a_duplicate_is_not_expanded_but_what_grew_from_it_is(node):
    policy = make(num_drafts=1, merge_prob=0)
    duplicate = node("a", None, is_valid=False).model_copy(update={"failure": None})
    journal = filled(policy, [duplicate])
    assert ask(policy, journal)[0].operator == "draft"
    policy.tell(journal, journal.append(node("b", 1.0, "user", ("a",))))
    assert ask(policy, journal)[0].parents == ("b",)


def test_a_banned_node_takes_its_branch_along_and_a_pinned_one_is_searched_alone(search):
    journal, policy = Journal(), make(num_drafts=3)
    search(policy, journal, 40)
    drafts = [d.id for d in journal.draft_nodes if not d.is_buggy]
    journal.marks[drafts[0]] = "banned"
    firsts = {p.parents[0] for s in range(20) for p in ask(policy, journal, 4, s) if p.parents}
    assert firsts and all(journal.root(i) != drafts[0] for i in firsts)
    journal.marks = {drafts[0]: "pinned"}
    firsts = {p.parents[0] for s in range(20) for p in ask(policy, journal, 4, s)}
    assert firsts and all(journal.root(i) == drafts[0] for i in firsts)


@pytest.mark.parametrize("interleaved", [True, False])
def test_telling_again_restores_the_policy_however_the_journal_was_filled(search, interleaved):
    journal, policy = Journal(), make(merge_prob=0.2)
    search(policy, journal, 60)
    again, other = Journal(), make(merge_prob=0.2)
    plain = [n.model_copy(update={"visits": 0, "total_reward": 0.0, "children_ids": ()}) for n in journal]
    if interleaved:
        for n in plain:
            other.tell(again, again.append(n))
    else:
        for n in [again.append(n) for n in plain]:
            other.tell(again, n)
    assert [again.visits(n.id) for n in again] == [journal.visits(n.id) for n in journal]
    assert ask(other, again, 5, 7) == ask(policy, journal, 5, 7)


def test_ask_changes_nothing(search):
    journal, policy = Journal(), make()
    search(policy, journal, 30)
    before = journal.sha256, [journal.visits(n.id) for n in journal]
    assert ask(policy, journal, 6, 3) == ask(policy, journal, 6, 3)
    assert before == (journal.sha256, [journal.visits(n.id) for n in journal])


def test_a_chain_of_ten_thousand_needs_no_recursion(node):
    policy = make(num_drafts=1)
    journal = Journal()
    for i in range(10_000):
        journal.append(node(str(i), float(i), "improve" if i else "draft", (str(i - 1),) if i else ()))
    for n in (journal[str(i)] for i in (0, 5_000, 9_999)):
        policy.tell(journal, n)
    assert journal.visits("0")[0] == 3
    assert ask(policy, journal)[0].parents == ("0",)
