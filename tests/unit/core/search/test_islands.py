import random
from collections import Counter

import pytest

from core.events import IslandMigrated, IslandReset
from core.search.islands import IslandsOptions, IslandsPolicy
from core.state.journal import Journal
from core.state.node import Node
from core.state.task import Task


class World:
    """A policy, its journal, and verdicts by hand."""

    def __init__(self, **options) -> None:
        self.policy = IslandsPolicy(
            IslandsOptions.model_validate({"num_islands": 3, "per_island": 2, "migration_interval": 0, **options})
        )
        self.journal = Journal(lower_is_better=False)
        self.count = 0

    def commit(self, metric: float | None, **fields) -> Node:
        self.count += 1
        told = {"code": f"x = {self.count}", **fields}
        node = Node(id=f"n{self.count}", metric_value=metric, is_buggy=metric is None, **told)
        node = self.journal.append(node)
        self.policy.tell(self.journal, node)
        return node

    def ask(self, k: int | None = None, seed: int = 0):
        """k proposals, or as many as a generation has."""
        return self.policy.ask(self.journal, random.Random(seed), k or self.policy.options.generation_size)

    def generation(self, score) -> None:
        """Play one whole generation; `score` maps a proposal to a metric."""
        for proposal in self.ask():
            self.commit(
                score(proposal), operator=proposal.operator, parent_ids=proposal.parents, island=proposal.island,
                generation=proposal.generation, slot=proposal.slot,
            )  # fmt: skip

    def best(self, island: int) -> float | None:
        best = self.policy.islands[island].best
        return best.metric_value if best else None


def task_of(proposal, node_id: str) -> Task:
    """The proposal as a task under way."""
    return Task(
        node_id=node_id, operator=proposal.operator, parent_ids=proposal.parents, round=0, slot=0, seed=0,
        generation=proposal.generation, island=proposal.island,
    )  # fmt: skip


def test_empty_islands_ask_for_fresh_programs():
    proposals = World().ask()
    assert [p.operator for p in proposals] == ["generate"] * 6
    assert [p.island for p in proposals] == [0, 0, 1, 1, 2, 2]
    assert [p.slot for p in proposals] == list(range(6))


def test_baselines_found_every_island_and_children_stay_on_theirs():
    world = World()
    world.commit(1.0, operator="baseline")
    assert [world.best(i) for i in range(3)] == [1.0, 1.0, 1.0]
    world.generation(lambda p: 5.0 if p.island == 1 else 0.5)
    assert [world.best(i) for i in range(3)] == [1.0, 5.0, 1.0]


def test_a_generation_may_take_several_rounds_and_a_round_end_one_and_begin_the_next():
    world = World()
    world.commit(1.0, operator="baseline")
    first = world.ask(4)
    assert [p.slot for p in first] == [0, 1, 2, 3]
    for proposal in first:
        world.commit(0.1, generation=0, island=proposal.island, operator="mutate")
    assert [(p.slot, p.generation) for p in world.ask(4)] == [(4, 0), (5, 0), (0, 1), (1, 1)]
    for _ in range(2):
        world.commit(0.1, generation=0, island=2, operator="mutate")
    assert world.policy.finished_generations == 1
    assert [(p.slot, p.generation) for p in world.ask(2)] == [(0, 1), (1, 1)]


def test_what_is_under_way_has_its_slot_and_the_next_generation_begins_behind_it():
    """As in a pipeline, where many are asked before the first is told."""
    world = World()
    world.commit(1.0, operator="baseline")
    asked = []
    for number in range(15):
        (proposal,) = world.ask(1, number)
        asked.append((proposal.generation, proposal.slot))
        world.journal.propose(task_of(proposal, f"n{number + 2}"))
    assert asked == [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (0, 5)] + [(1, slot) for slot in range(6)] + [
        (2, 0), (2, 1), (2, 2),
    ]  # fmt: skip
    for generation, slot in asked[:7]:
        world.commit(0.1, generation=generation, island=slot // 2, operator="mutate", slot=slot)
    assert world.policy.finished_generations == 1
    assert [(p.generation, p.slot) for p in world.ask(1)] == [(2, 3)]


def test_what_is_withdrawn_is_written_on_its_own_island():
    """As where a writer outside gives up its ticket."""
    world = World()
    world.commit(1.0, operator="baseline")
    for number, proposal in enumerate(world.ask(5)):
        world.journal.propose(task_of(proposal, f"t{number}"))
    world.journal.withdraw("t1")
    assert [(p.generation, p.island) for p in world.ask(3)] == [(0, 0), (0, 2), (1, 0)]


def test_a_later_generation_may_be_told_before_the_last_of_an_earlier_one():
    """As under `search.schedule: async`."""
    world = World()
    for generation, island in [(0, 0), (0, 0), (0, 1), (0, 1), (0, 2), (1, 0)]:
        world.commit(0.1, generation=generation, island=island, operator="mutate")
    assert world.policy.finished_generations == 0
    world.commit(0.1, generation=0, island=2, operator="mutate")
    assert world.policy.finished_generations == 1
    assert [(p.generation, p.slot) for p in world.ask(5)] == [(1, slot) for slot in range(1, 6)]


@pytest.mark.parametrize(
    ("way", "expected"), [("ring", [1.0, 5.0, 5.0]), ("all", [5.0, 5.0, 5.0]), ("global", [5.0, 5.0, 5.0])]
)
def test_migration(way, expected):
    world = World(migration=way, migration_interval=1)
    world.commit(1.0, operator="baseline")
    world.generation(lambda p: 5.0 if p.island == 1 else 0.5)
    assert [world.best(i) for i in range(3)] == expected
    (event,) = world.policy.drain_events()
    assert isinstance(event, IslandMigrated) and event.generation == 0
    assert all(source == 1 for _, source, _ in event.moves)
    assert world.policy.drain_events() == []


def test_migration_waits_for_its_generation():
    world = World(migration_interval=3)
    world.commit(1.0, operator="baseline")
    for _ in range(2):
        world.generation(lambda p: 5.0 if p.island == 1 else 0.5)
    assert world.best(0) == 1.0
    world.generation(lambda p: 0.5)
    assert world.best(0) == 5.0


def test_weaker_half_is_reset_by_evaluations_from_a_survivor():
    world = World(num_islands=4, reset_evaluations=8, per_island=2)
    world.commit(1.0, operator="baseline")
    world.generation(lambda p: [2.0, 9.0, 3.0, 8.0][p.island])
    resets = [event for event in world.policy.drain_events() if isinstance(event, IslandReset)]
    assert sorted(event.island for event in resets) == [0, 2]
    for event in resets:
        assert world.best(event.island) in (8.0, 9.0)
        assert len(world.policy.islands[event.island]) == 1


def test_stagnation_restarts_an_island():
    world = World(num_islands=2, stagnation_restart=2)
    world.commit(1.0, operator="baseline")
    better = iter(range(2, 100))
    for _ in range(3):
        world.generation(lambda p: float(next(better)) if p.island == 1 else 0.0)
    (event,) = world.policy.drain_events()
    assert event.island == 0
    assert world.journal[event.founder].metric_value == world.best(1)


def test_an_equal_score_of_a_shorter_program_is_no_better_best():
    world = World(num_islands=1, per_island=1, stagnation_restart=2)
    for length in range(9, 3, -1):
        world.commit(1.0, operator="mutate", island=0, generation=9 - length, code="x" * length)
    assert [event.type for event in world.policy.drain_events()] == ["island.reset"] * 2


def test_failures_and_duplicates_never_become_parents():
    world = World(crossover_prob=0.5, generate_prob=0.0)
    good = world.commit(1.0, operator="baseline")
    world.commit(None, operator="mutate", island=0, generation=0)
    world.commit(9.0, operator="mutate", island=0, generation=0, is_valid=False)
    world.commit(None, operator="mutate", island=0, generation=0, rung="cheap")
    assert {parent for p in world.ask() for parent in p.parents} == {good.id}


def test_banned_programs_are_not_chosen():
    world = World(generate_prob=0.0)
    first, second = world.commit(1.0, operator="baseline"), world.commit(2.0, operator="baseline")
    world.journal.marks[second.id] = "banned"
    assert {parent for p in world.ask() for parent in p.parents} == {first.id}


def test_tune_is_due_by_interval_and_once_a_program():
    world = World(num_islands=1, per_island=2, tune_interval=2, generate_prob=0.0)
    base = world.commit(1.0, operator="baseline")
    assert "tune" not in [p.operator for p in world.ask()]
    for _ in range(2):
        world.generation(lambda p: 0.5)
    first = world.ask()[0]
    assert (first.operator, first.parents) == ("tune", (base.id,))
    for _ in range(2):
        world.generation(lambda p: 0.4)
    again = world.ask()[0]
    assert again.operator == "tune" and again.parents != (base.id,)


def test_grid_is_one_more_population():
    world = World(num_islands=1, per_island=2, grid={"length": {"low": 0, "high": 100, "bins": 10}}, generate_prob=0.0)
    world.commit(1.0, operator="baseline")
    proposals = world.ask()
    assert [p.island for p in proposals] == [0, 0, 1, 1]
    assert world.policy.options.generation_size == 4


def test_the_grid_holds_what_the_evaluator_measured_and_tells_of_a_feature_that_no_program_has():
    """Numbers of a user's evaluator were never looked at: its place in each generation went to fresh programs."""
    world = World(num_islands=1, per_island=2, grid={"width": {"low": 0, "high": 10, "bins": 5}}, generate_prob=0.0)
    bare = world.commit(1.0, operator="baseline", metrics={"height": 2.0, "note": "tall"})
    world.commit(1.5, operator="baseline")
    assert {p.parents for p in world.ask() if p.island == 1} <= {("n1",), ("n2",)}, "the island stands in for it"
    (told,) = world.policy.drain_events()
    assert told.node_id == bare.id and "'width'" in told.text and told.text.endswith("length, nodes, constants, height")
    world.commit(0.5, operator="baseline", metrics={"width": 3.0, "height": "tall"})
    assert {p.parents for p in world.ask() if p.island == 1} == {("n3",)}


def test_a_share_of_the_steps_changes_the_best():
    world = World(num_islands=1, per_island=200, generate_prob=0.1, elite_prob=0.5, crossover_prob=0.2)
    for metric in range(12):
        world.commit(float(metric), operator="user")
    best = world.policy.islands[0].best
    asked = world.ask(k=200)
    elite = [p for p in asked if p.why["rule"] == "the island's best"]
    assert 75 <= len(elite) <= 125 and {(p.operator, p.parents) for p in elite} == {("mutate", (best.id,))}
    counts = Counter(p.operator for p in asked)
    assert 8 <= counts["generate"] <= 35 and 22 <= counts["crossover"] <= 60


def test_a_baseline_is_not_crossed_with_what_beats_it_where_a_model_writes():
    journal = Journal()
    options = {"num_islands": 1, "per_island": 4, "crossover_prob": 1.0, "generate_prob": 0.0, "crossover_kin": False}
    policy = IslandsPolicy(IslandsOptions(**options))

    def add(name, fitness, operator="mutate"):
        made = Node(id=name, code=f"def {name}(): pass", operator=operator, metric_value=fitness, island=0)
        policy.tell(journal, journal.append(made.model_copy(update={"signature": (fitness,)})))

    add("a", 1.0, "baseline")
    add("b", 2.0, "baseline")
    add("c", 9.0)
    asked = [policy.ask(journal, random.Random(seed), 1)[0] for seed in range(30)]
    assert {proposal.operator for proposal in asked} == {"mutate"}, "each pair holds a baseline that is the worse one"
    add("d", 8.5)
    pairs = {frozenset(policy.ask(journal, random.Random(seed), 1)[0].parents) for seed in range(60)}
    assert {pair for pair in pairs if len(pair) == 2} == {frozenset("cd")}


def test_kin_and_twins_are_not_crossed_where_a_model_writes():
    journal = Journal()
    options = {"num_islands": 1, "per_island": 4, "crossover_prob": 1.0, "generate_prob": 0.0, "crossover_kin": False}
    policy = IslandsPolicy(IslandsOptions(**options))
    body = "\n".join(f"line {i}" for i in range(30))

    def add(name, fitness, parents=(), code=""):
        made = Node(id=name, code=code or f"{body}\n{name}", operator="user", metric_value=fitness, parent_ids=parents)
        policy.tell(journal, journal.append(made.model_copy(update={"signature": (fitness,)})))

    add("a", 1.0, code="one\nway")
    add("b", 2.0, ("a",), code="another\nroad")
    for seed in range(20):
        (proposal, *_) = policy.ask(journal, random.Random(seed), 1)
        assert proposal.operator == "mutate", "mother and daughter have nothing to combine"
    add("c", 3.0)
    add("twin", 3.5)
    add("d", 3.2, code="a third\nway")
    for seed in range(40):
        (proposal, *_) = policy.ask(journal, random.Random(seed), 1)
        assert set(proposal.parents) not in ({"a", "b"}, {"c", "twin"})
    pairs = {frozenset(policy.ask(journal, random.Random(seed), 1)[0].parents) for seed in range(200)}
    assert any(len(pair) == 2 for pair in pairs)


def test_a_partner_that_is_clearly_worse_is_not_crossed_where_a_model_writes():
    """A strong reader was shown the best and one of the first tries, with the words to combine the two."""
    journal = Journal()
    options = {"num_islands": 1, "per_island": 4, "crossover_prob": 1.0, "generate_prob": 0.0, "crossover_kin": False}
    policy = IslandsPolicy(IslandsOptions(**options))
    for number in range(12):
        made = Node(id=f"n{number}", code=f"def f{number}(): pass", operator="user", metric_value=float(number))
        policy.tell(journal, journal.append(made.model_copy(update={"signature": (float(number),)})))
    asked = [policy.ask(journal, random.Random(seed), 1)[0] for seed in range(300)]
    scores = [[journal[parent].metric_value for parent in proposal.parents] for proposal in asked]
    pairs = [pair for pair in scores if len(pair) == 2]
    assert len(pairs) > 150 and all(first > second >= 6.0 for first, second in pairs), "each is of the better half"
