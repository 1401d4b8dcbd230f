"""The DAG as inline SVG: rows are generations of descent, columns keep families together. O(n), no recursion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from core.state.node import Node
from reports.facts import RunFacts
from reports.markup import EMPTY, Markup, figure, tag
from utils.counts import counted
from utils.direction import Direction

MOST_NODES = 2000
"""Nodes drawn. In a longer run the best one's family and the newest nodes stay, and the report says so."""


MOST_UNFOLDED = 150
"""Nodes that a reader tells apart; of more, those that nothing descends from become a count beside their parent."""
LEGIBLE = 12.0
"""Pixels from row to row from which on a score fits beside its node."""
LABEL = 60.0
"""Pixels to the right, for the score of the last column."""


@dataclass(frozen=True, slots=True)
class Place:
    """Column (may be a half) and row of a node."""

    column: float
    row: int


def layout(nodes: Sequence[Node]) -> dict[str, Place]:
    """Node id → place. Leaves get columns in order, a parent stands over the middle of its children.

    Only first parents make the tree; a parent that is not among `nodes` counts as absent.
    """
    known = {node.id for node in nodes}
    children: dict[str, list[str]] = {}
    roots: list[str] = []
    rows: dict[str, int] = {}
    for node in nodes:
        if node.parent_id in known and node.parent_id is not None:
            children.setdefault(node.parent_id, []).append(node.id)
            rows[node.id] = rows[node.parent_id] + 1
        else:
            roots.append(node.id)
            rows[node.id] = 0
    columns: dict[str, float] = {}
    free = 0
    waiting = [(root, False) for root in reversed(roots)]
    while waiting:
        node_id, seen = waiting.pop()
        own = children.get(node_id, [])
        if not own:
            columns[node_id] = free
            free += 1
        elif seen:
            columns[node_id] = (columns[own[0]] + columns[own[-1]]) / 2
        else:
            waiting.append((node_id, True))
            waiting.extend((child, False) for child in reversed(own))
    return {node_id: Place(columns[node_id], rows[node_id]) for node_id in columns}


def drawn_nodes(facts: RunFacts) -> list[Node]:
    """All nodes, or of a long run the line of the best and the newest, in order."""
    if len(facts.nodes) <= MOST_NODES:
        return facts.nodes
    line = {node.id for node in facts.line[-MOST_NODES // 2 :]}
    newest = {node.id for node in facts.nodes[-(MOST_NODES - len(line)) :]}
    return [node for node in facts.nodes if node.id in line or node.id in newest]


@dataclass(frozen=True, slots=True)
class Drawing:
    """The tree, and what stands in it as a number or not at all."""

    svg: Markup
    folded: int = 0
    left_out: int = 0


def folded(nodes: Sequence[Node], line: Collection[str], lower_is_better: bool) -> tuple[list[Node], Counter[str]]:
    """The nodes that are drawn of a run of many, and how many leaves each of them counts beside itself.

    What nothing drawn descends from goes first: repetitions, failures, then the worst scores; `line` stays.
    """
    children = Counter(node.parent_id for node in nodes)
    counts: Counter[str] = Counter()
    known = {node.id: node for node in nodes}

    def rank(node: Node) -> tuple[int, float, int]:
        fitness = Direction(lower_is_better).fitness(node.metric_value) if node.is_scored else None
        return (0 if not node.is_valid else 1 if fitness is None else 2, fitness or 0.0, node.step)

    leaves = [(rank(node), node.id) for node in nodes if not children[node.id] and node.id not in line]
    heapify(leaves)
    while len(known) > MOST_UNFOLDED and leaves:
        _, node_id = heappop(leaves)
        parent, beside = known.pop(node_id).parent_id, counts.pop(node_id, 0)
        if parent is None or parent not in known:
            continue
        counts[parent] += 1 + beside
        children[parent] -= 1
        if not children[parent] and parent not in line:
            heappush(leaves, (rank(known[parent]), parent))
    return list(known.values()), counts


def dag_svg(facts: RunFacts) -> Drawing:
    """Circles by operator, hollow where failed; the line of the best is drawn bold, second parents dashed."""
    line = {node.id for node in facts.line}
    considered = drawn_nodes(facts)
    nodes, counts = folded(considered, line, facts.lower_is_better)
    if not nodes:
        return Drawing(EMPTY)
    places = layout(nodes)
    across = max(place.column for place in places.values()) + 1
    down = max(place.row for place in places.values()) + 1
    dx, dy = min(26.0, max(7.0, 1100 / across)), min(46.0, max(4.0, 1400 / down))
    radius = max(1.4, min(6.0, 0.36 * dx, 0.36 * dy))
    at = {i: (dx * (p.column + 0.5), dy * (p.row + 0.5)) for i, p in places.items()}
    edges = [_edge(at[parent], at[node.id], _kind(node, number, parent, line))
             for node in nodes for number, parent in enumerate(node.parent_ids) if parent in at]  # fmt: skip
    circles = [
        _circle(
            node, facts.named(node.id, node.operator), facts.operators[node.operator].colour, at[node.id], radius, line
        )
        for node in nodes
    ]
    labels = [_count(at[node_id], count, radius) for node_id, count in counts.items() if count]
    if dy >= LEGIBLE:
        labels += [_score(at[node.id], node, radius) for node in nodes if node.id in line and node.is_scored]
    told = counted(len(nodes), "program and its parents", "programs and their parents")
    width, height = dx * across + LABEL, dy * down
    svg = tag(
        "svg", tag("title", told), *edges, *circles, *labels,
        viewBox=f"0 0 {width:.0f} {height:.0f}", width=f"{width:.0f}", height=f"{height:.0f}", role="img", class_="dag",
    )  # fmt: skip
    return Drawing(svg, len(considered) - len(nodes), len(facts.nodes) - len(considered))


def _count(at: tuple[float, float], count: int, radius: float) -> Markup:
    """How many leaves a node has that are not drawn, below it."""
    x, y = f"{at[0]:.1f}", f"{at[1] + radius + 7:.1f}"
    return tag("text", f"+{count}", x=x, y=y, class_="count name middle")


def _score(at: tuple[float, float], node: Node, radius: float) -> Markup:
    x, y = f"{at[0] + radius + 4:.1f}", f"{at[1]:.1f}"
    return tag("text", figure(round_to(node.metric_value)), x=x, y=y, class_="score name")


def round_to(value: float | None) -> float | None:
    """Four digits: more say nothing beside a circle."""
    return None if value is None else float(f"{value:.4g}")


def _kind(node: Node, number: int, parent: str, line: set[str]) -> str:
    if number > 0:
        return "edge second"
    return "edge descent" if node.id in line and parent in line else "edge"


def _edge(start: tuple[float, float], end: tuple[float, float], kind: str) -> Markup:
    (x, y), (to_x, to_y) = start, end
    middle = (y + to_y) / 2
    path = f"M{x:.1f} {y:.1f}C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}"
    return tag("path", d=path, class_=kind)


def _circle(node: Node, name: str, colour: str, at: tuple[float, float], radius: float, line: set[str]) -> Markup:
    twice = "nothing left to gain" if node.nothing_left else "duplicate"
    outcome = node.failure.value if node.failure else twice if not node.is_valid else figure(node.metric_value)
    title = tag("title", f"{name} {node.id}: {outcome}")
    state = "failed" if node.is_buggy else "duplicate" if not node.is_valid else ""
    classes = f"op-{colour} {state} {'in-line' if node.id in line else ''}".strip()
    size = f"{radius * (1.35 if node.id in line else 1):.1f}"
    return tag("circle", title, cx=f"{at[0]:.1f}", cy=f"{at[1]:.1f}", r=size, class_=classes)
