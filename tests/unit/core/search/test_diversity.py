from core.search.diversity import clusters, prune
from core.state.node import Node


def node(name: str, fitness: float, signature: tuple[float, ...], code: str = "pass") -> Node:
    return Node(id=name, code=code, fitness=fitness, metric_value=fitness, signature=signature)


A, B, C = node("a", 1.0, (1.0, 2.0)), node("b", 1.5, (1.0, 2.0)), node("c", 0.5, (2.0, 2.0))
D, E = node("d", 0.1, ()), node("e", 0.1, ())


def test_equal_signatures_are_one_behaviour_and_no_signature_is_none():
    assert [[n.id for n in group] for group in clusters([A, C, B, D, E])] == [["a", "b"], ["c"], ["d"], ["e"]]


def test_pruning_keeps_the_better_of_each_behaviour_best_first():
    assert [n.id for n in prune([A, C, D, B, E])] == ["b", "c", "d", "e"]


def test_pruning_prefers_the_shorter_of_equals():
    long, short = node("l", 1.0, (1.0,), "a long program"), node("s", 1.0, (1.0,), "s")
    assert [n.id for n in prune([long, short])] == ["s"]
