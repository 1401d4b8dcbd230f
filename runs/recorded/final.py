"""A replay's final scores: winner and baselines are scored on the final part again, and compared with the record.

Only whether the final part says the same is told, never what it says: no look at it is added to those that were taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.contracts import Evaluation
from core.state.node import Node
from core.storage.rows import BESIDE
from runs.recorded.scores import Difference
from runs.search import Search
from utils.stats import proper_interval

COMPARED = ("metric", "interval")
ANOTHER, YET_ANOTHER = "another", "yet another"


def final_differences(
    search: Search, final: Mapping[str, Any], baselines: Sequence[Mapping[str, Any]]
) -> Iterator[Difference | None]:
    """One a program whose final score is recorded; None where it came out again.

    Those of games, whose evaluator names the winner itself, are not played again: how many fit into the allowance of a
    run's end follows from the clock.

    Args:
        search: the replay, in which all programs were scored again.
        final: the fact of that name of the run that is replayed, {} where it never ended.
        baselines: rows of that fact.
    """
    told = dict(_told(search, final, baselines))
    if not told or search.evaluator.choice() is not None:
        return
    nodes = [node for node, _ in told.values()]
    for node, found in zip(nodes, search.evaluator.final(nodes), strict=True):
        if found is None:  # there is no final part, or no time for it
            continue
        before, now = told[node.id][1], _scores(found)
        if before == now:
            yield None
            continue
        field = next(name for name, one, other in zip(COMPARED, before, now, strict=True) if one != other)
        again = search.evaluator.final([node])[0]
        repeats = again is not None and _scores(again) == now
        place = COMPARED.index(field)
        yield Difference(node.id, f"final {field}", before[place], ANOTHER, ANOTHER if repeats else YET_ANOTHER)


def _told(
    search: Search, final: Mapping[str, Any], baselines: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, tuple[Node, tuple[Any, Any]]]]:
    """Node id → the program, and what is recorded of it, where it was scored again in this replay: the winner last,
    which may be a baseline, too.
    """
    rows = [(row["node_id"], row.get("final"), row.get("final_interval")) for row in baselines]
    for node_id, metric, interval in [*rows, (final.get("node_id"), final.get("metric"), final.get("interval"))]:
        node = _scored_again(search, str(node_id)) if metric is not None else None
        if node is not None:
            yield node.id, (node, (metric, interval))


def _scored_again(search: Search, node_id: str) -> Node | None:
    program = search.store.get_fact(f"{BESIDE}{node_id}")
    return Node.model_validate(program) if program else search.journal.get_node_by_id(node_id)


def _scores(found: Evaluation) -> tuple[float | None, list[float] | None]:
    proper = proper_interval(found.interval)
    return found.metric, list(proper) if proper else None
