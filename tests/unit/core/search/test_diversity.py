from core.search.diversity import clusters
from core.state.node import Node


def node(name: str, fitness: float, signature: tuple[float, ...]) -> Node:
    return Node(id=name, code="pass", fitness=fitness, metric_value=fitness, signature=signature)


A, B, C = node("a", 1.0, (1.0, 2.0)), node("b", 1.5, (1.0, 2.0)), node("c", 0.5, (2.0, 2.0))
D, E = node("d", 0.1, ()), node("e", 0.1, ())


def test_equal_signatures_are_one_behaviour_and_no_signature_is_none():
    assert [[n.id for n in group] for group in clusters([A, C, B, D, E])] == [["a", "b"], ["c"], ["d"], ["e"]]
