"""Who may be a parent, and how the choice is written down: shared by the policies that work step by step."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

from core.search.selection import best_last
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node
from utils.direction import Direction
from utils.stats import paired_error
from utils.syntax import source_lines

SHOWN = 10
"""Candidates written into `Proposal.why`: enough to follow the choice, bounded however long the run."""

MERGE_POOL = 8
"""How many of the best nodes may be the second parent of a merge."""

TWINS = 0.9
"""Share of the lines of two programs that are the same in both."""

_NOTHING_TO_REPAIR = frozenset({FailureKind.NO_CODE, FailureKind.LOST_WORKER})


def marked(journal: Journal, mark: str) -> list[str]:
    """Ids of the nodes that carry the user's `mark` (`pinned` or `banned`), in commit order."""
    nodes = [journal[i] for i, own in journal.marks.items() if own == mark and i in journal]
    return [node.id for node in sorted(nodes, key=lambda node: node.step)]


def best_allowed(journal: Journal, count: int) -> list[Node]:
    """The `count` best scored nodes that the user has not banned, best first; only pinned ones where there are any."""
    banned = set(marked(journal, "banned"))
    pinned = [node for node in map(journal.__getitem__, marked(journal, "pinned")) if node.is_scored]
    if pinned:
        return sorted(pinned, key=lambda node: (-_fitness(node), node.step))[:count]
    return [node for node in journal.top(count + len(banned)) if node.id not in banned][:count]


def steadiest(best: Sequence[Node]) -> list[Node]:
    """`best`, best first; in front, of those that tie with the first, the one whose own estimate is best.

    Scores tie where their difference is within one standard error of it. Without estimates nothing changes.
    """
    first = best[0]
    ties = [node for node in best if node.claimed_metric is not None and tied(first, node)]
    if first.claimed_metric is None or len(ties) < 2:
        return list(best)
    front = Direction(first.lower_is_better).ranked(ties, lambda node: node.claimed_metric or 0.0)[0]
    return [front, *(node for node in best if node.id != front.id)]


def tied(one: Node, other: Node) -> bool:
    """True if the scores of two programs cannot be told apart by their cases."""
    error = paired_error(one.signature, other.signature)
    if error is None or one.metric_value is None or other.metric_value is None:
        return one.metric_value == other.metric_value
    return abs(one.metric_value - other.metric_value) <= error


def repairable(node: Node) -> bool:
    """True if there is a program whose fault can be worked on."""
    return node.is_buggy and bool(node.code) and node.failure not in _NOTHING_TO_REPAIR


def merge_partner(journal: Journal, first: Node, rng: random.Random) -> tuple[Node | None, dict[str, Any]]:
    """A second parent from among the best, of another draft's line where there is one; and the record of the draw.

    Programs of one line share most of their text, so that a merge of two of them teaches little.
    """
    banned = set(marked(journal, "banned"))
    pool = [n for n in journal.top(MERGE_POOL + len(banned) + 1) if n.id != first.id and n.id not in banned]
    pool = pool[:MERGE_POOL]
    strangers = [node for node in pool if journal.root(node.id) != journal.root(first.id)]
    pool = strangers or pool
    if not pool:
        return None, {}
    chosen = rng.choice(pool)
    return chosen, {"partner": chosen.id, "partners": shown(pool)}


def are_kin(journal: Journal, one: Node, other: Node) -> bool:
    """True if one descends from the other, or their programs are nearly the same text."""
    if one.id == other.id or one.id in (*other.parent_ids, *journal.ancestors(other.id)):
        return True
    if other.id in (*one.parent_ids, *journal.ancestors(one.id)):
        return True
    mine, theirs = (set(source_lines(node.code)) for node in (one, other))
    return len(mine & theirs) >= TWINS * max(1, len(mine | theirs))


def are_worth_crossing(journal: Journal, one: Node, other: Node) -> bool:
    """True if a model finds something to combine in the two: they are no kin, and the worse one is no baseline.

    What a baseline knows, a program that beats it has or has left behind; a call that combines them is lost.
    """
    worse = min(one, other, key=_fitness)
    return worse.operator != "baseline" and not are_kin(journal, one, other)


def crossed(journal: Journal, pool: Sequence[Node], parents: Sequence[Node], rng: random.Random) -> list[Node]:
    """Two drawn parents, best last, as a model finds something to combine in them: both of the better half of `pool`.

    The worse one makes room for another there where it has nothing to give; where nobody has, the better stands alone.

    Args:
        pool: best first.
    """
    half = pool[: max(2, min(MERGE_POOL, (len(pool) + 1) // 2))]
    better = {node.id for node in half}
    worse, best = best_last(parents)
    if worse.id in better and are_worth_crossing(journal, worse, best):
        return [worse, best]
    strangers = [node for node in half if are_worth_crossing(journal, node, best)] if best.id in better else []
    return best_last([*([rng.choice(strangers)] if strangers else []), best])


def shown(nodes: Iterable[Node]) -> list[dict[str, Any]]:
    """Candidates as plain JSON for `show --why`, at most SHOWN of them."""
    listed: Sequence[Node] = list(nodes)
    return [
        {"node_id": n.id, "metric": n.metric_value, "failure": n.failure.value if n.failure else None}
        for n in listed[:SHOWN]
    ]


def _fitness(node: Node) -> float:
    assert node.fitness is not None
    return node.fitness
