"""Generations: one round a generation, parents from the last tournament, all state from what was told."""

from __future__ import annotations

import random

from core.search.generations import GenerationsOptions, GenerationsPolicy
from core.state.findings import TournamentResult
from core.state.journal import Journal


def make(**options) -> GenerationsPolicy:
    return GenerationsPolicy(GenerationsOptions(**options))


def seeded(node, policy):
    """A journal after the baselines' tournament."""
    journal = Journal()
    for name, metric in (("champ", 0.0), ("greedy", -100.0), ("random", -600.0)):
        told(journal, policy, node(name, metric, "baseline", tournament=TournamentResult(promoted=("champ", "greedy"))))
    return journal


def told(journal, policy, made):
    policy.tell(journal, journal.append(made))


def ask(policy, journal, k=2):
    return policy.ask(journal, random.Random(0), k)


def test_a_generation_is_one_candidate_a_question_from_champion_and_runner_up(node):
    policy = make(questions=3)
    proposals = ask(policy, seeded(node, policy), k=8)
    assert [p.slot for p in proposals] == [0, 1, 2] and policy.options.generation_size == 3
    assert {(p.operator, p.parents, p.generation, p.repairs) for p in proposals} == {
        ("build", ("champ", "greedy"), 1, 1)
    }


def test_no_more_than_k(node):
    policy = make(questions=3)
    assert len(ask(policy, seeded(node, policy), k=1)) == 1


def test_asking_changes_nothing(node):
    policy = make()
    journal = seeded(node, policy)
    assert ask(policy, journal) == ask(policy, journal)


def test_the_promoted_seed_the_next_generation(node):
    policy = make()
    journal = seeded(node, policy)
    after = TournamentResult(promoted=("new", "champ"))
    told(journal, policy, node("new", 50.0, "build", ("champ",), generation=1, tournament=after))
    (first, _) = ask(policy, journal)
    assert (first.generation, first.parents) == (2, ("new", "champ"))


def test_a_generation_whose_candidates_were_all_refused_leaves_the_champion(node):
    policy = make()
    journal = seeded(node, policy)
    told(journal, policy, node("bad", None, "build", ("champ",), generation=1, refused_by="smoke"))
    told(journal, policy, node("fix", None, "debug", ("bad",), generation=1, refused_by="static"))
    (first, _) = ask(policy, journal)
    assert (first.generation, first.parents) == (2, ("champ", "greedy"))


def test_a_policy_that_is_told_the_stored_nodes_again_goes_on_as_before(node):
    first = make()
    journal = seeded(node, first)
    after = TournamentResult(promoted=("new", "champ"))
    told(journal, first, node("new", 50.0, "build", ("champ",), generation=1, tournament=after))
    again = make()
    for stored in journal:
        again.tell(journal, stored)
    assert ask(again, journal) == ask(first, journal)


def test_a_banned_champion_gives_way_and_a_pinned_node_comes_first(node):
    policy = make()
    journal = seeded(node, policy)
    journal.marks["champ"] = "banned"
    assert ask(policy, journal)[0].parents == ("greedy", "random")
    journal.marks["random"] = "pinned"
    assert ask(policy, journal)[0].parents == ("random", "greedy")


def test_without_a_tournament_the_best_of_the_journal_reigns(node):
    policy = make()
    journal = Journal()
    assert ask(policy, journal)[0].parents == ()
    told(journal, policy, node("user", 3.0, "user"))
    assert ask(policy, journal)[0].parents == ("user",)
