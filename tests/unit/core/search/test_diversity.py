from core.search.diversity import clusters, prune, same_behaviour
from core.state.node import Node


def node(name: str, fitness: float, signature: tuple[float, ...], code: str = "pass") -> Node:
    return Node(id=name, code=code, fitness=fitness, metric_value=fitness, signature=signature)


A, B, C = node("a", 1.0, (1.0, 2.0)), node("b", 1.5, (1.0, 2.0)), node("c", 0.5, (2.0, 2.0))
D, E = node("d", 0.1, ()), node("e", 0.1, ())


def test_equal_signatures_are_one_behaviour_and_no_signature_is_none():
    assert same_behaviour(A, B)
    assert not same_behaviour(A, C)
    assert not same_behaviour(D, E)
    assert [[n.id for n in group] for group in clusters([A, C, B, D, E])] == [["a", "b"], ["c"], ["d"], ["e"]]


def test_pruning_keeps_the_better_of_each_behaviour_in_place():
    assert [n.id for n in prune([A, C, B, D, E])] == ["c", "b", "d", "e"]
    assert [n.id for n in prune([A, C, B], per_signature=2)] == ["a", "c", "b"]


def test_pruning_prefers_the_shorter_of_equals():
    long, short = node("l", 1.0, (1.0,), "a long program"), node("s", 1.0, (1.0,), "s")
    assert [n.id for n in prune([long, short])] == ["s"]
