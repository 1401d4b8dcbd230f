import random

from hypothesis import given
from hypothesis import strategies as st

from core.search.population import Population
from core.state.node import Node


def node(step: int, fitness: float, signature: tuple[float, ...] = (), code: str = "pass") -> Node:
    return Node(id=f"n{step}", code=code, step=step, fitness=fitness, metric_value=fitness, signature=signature)


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 6)), max_size=40), st.integers(1, 8))
def test_is_capped_sorted_and_holds_the_best_of_each_behaviour(values, capacity):
    population = Population(capacity)
    best: dict[int, int] = {}
    for step, (fitness, behaviour) in enumerate(values):
        population.add(node(step, float(fitness), (float(behaviour),)))
        best[behaviour] = max(fitness, best.get(behaviour, fitness))
    kept = [member.fitness for member in population]
    assert kept == sorted(kept, reverse=True)
    assert len(kept) <= capacity
    assert len({member.signature for member in population}) == len(kept)
    assert kept == sorted(best.values(), reverse=True)[:capacity] or len(best) > capacity
    assert kept[:1] == sorted(best.values())[-1:]


def as_defined(members: list[Node], capacity: int) -> list[Node]:
    """The best of each behaviour, best first; of equals the shorter program, then the older."""

    def order(node: Node) -> tuple[float, int, int]:
        return -(node.fitness or 0.0), len(node.code), node.step

    alike: dict[object, list[Node]] = {}
    for node in members:
        alike.setdefault(node.signature or node.id, []).append(node)
    return sorted((min(group, key=order) for group in alike.values()), key=order)[:capacity]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 5), st.integers(0, 3)), max_size=40), st.integers(1, 6))
def test_each_step_leaves_what_the_definition_says(values, capacity):
    population, members = Population(capacity), []
    for step, (fitness, behaviour, length) in enumerate(values):
        new = node(step, float(fitness), (float(behaviour),) if behaviour >= 0 else (), "x" * length)
        members = as_defined([*members, new], capacity)
        assert population.add(new) == (new in members)
        assert list(population) == members


def test_a_node_that_is_too_weak_is_not_read():
    population = Population(1)
    population.add(node(1, 1.0, (1.0,)))
    weak = node(2, 0.5).model_copy()
    del weak.__dict__["code"], weak.__dict__["signature"]  # to ask for them would be an error
    assert not population.add(weak)


def test_of_equal_behaviour_the_shorter_program_stays():
    population = Population(5)
    assert population.add(node(1, 1.0, (3.0,), "longer program"))
    assert population.add(node(2, 1.0, (3.0,), "short"))
    assert not population.add(node(3, 0.5, (3.0,), "x"))
    assert [member.code for member in population] == ["short"]


def test_refuses_what_is_not_scored_known_or_too_weak():
    population = Population(1)
    assert population.add(node(1, 1.0))
    assert not population.add(node(1, 1.0))
    assert not population.add(node(2, 0.5))
    assert not population.add(Node(id="x", code="", is_buggy=True))
    assert population.best is not None and population.best.id == "n1"


def test_sampling_prefers_the_better_and_repeats_by_seed():
    population = Population(10)
    for step in range(10):
        population.add(node(step, float(step)))
    rng = random.Random(0)
    firsts = [population.sample(1, rng)[0].fitness for _ in range(500)]
    assert sum(firsts) / 500 > 5.5
    assert [n.id for n in population.sample(4, random.Random(3))] == [
        n.id for n in population.sample(4, random.Random(3))
    ]
    assert len(population.sample(99, rng)) == 10
    assert [n.fitness for n in population.get_top_k(2)] == [9.0, 8.0]


def test_banned_members_stay_but_are_not_drawn():
    population = Population(10)
    for step in range(3):
        population.add(node(step, float(step)))
    assert [n.id for n in population.get_top_k(3, {"n2"})] == ["n1", "n0"]
    assert {population.sample(1, random.Random(seed), {"n2"})[0].id for seed in range(30)} == {"n0", "n1"}
    assert population.sample(1, random.Random(0), {"n0", "n1", "n2"}) == [] and len(population) == 3


def test_a_selector_of_ones_own_draws():
    class Worst:
        def select(self, pool, k, rng):
            return pool[-k:]

    population = Population(10, Worst())
    for step in range(3):
        population.add(node(step, float(step)))
    assert [n.id for n in population.sample(1, random.Random(0))] == ["n0"]
