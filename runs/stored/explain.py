"""Why a node has its parents, and why the best is best: what `show --why` tells, as plain JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.events import GenerationFinished, NodeProposed
from core.state.journal import Journal
from core.state.numbering import Numbering
from core.state.operators import FREE_OPERATORS
from core.state.task import derive_seed
from core.storage.reader import RunReader
from reports.choice import choice_table, rule_of
from reports.conclusion import conclusion_of
from reports.ratings import Ratings, ratings_of
from reports.winner import is_concluded


@dataclass(frozen=True, slots=True)
class _ToldBy:
    """What every node is told by: its step, and of an engine its newest rating."""

    numbers: Numbering
    ratings: Ratings


RULE = "best metric on validation; of equals the shorter program, then the earlier"


def why(reader: RunReader, node_id: str | None) -> dict[str, Any]:
    """The choice of a node's parents (candidates, scores, draws and their seed); and the ranking behind the best."""
    journal = reader.journal(texts=False)
    told_by = _ToldBy(Numbering((node.id, node.operator) for node in journal), ratings_of(reader))
    found: dict[str, Any] = {"best": _best(reader, journal, told_by)}
    node = reader.node(node_id) if node_id else None
    if node is None:
        return found
    chosen = reader.why(node.id)
    parents = [_scored(journal, told_by, parent) for parent in node.parent_ids]
    return {"chosen": chosen, "parents": parents, **_standing(reader, journal, told_by, node.id, chosen), **found}


def _scored(journal: Journal, told_by: _ToldBy, node_id: str) -> dict[str, Any]:
    node = journal.get_node_by_id(node_id)
    if node is None:
        return {"node_id": node_id}
    failure = node.failure.value if node.failure else None
    metric = told_by.ratings.elo(node.id, node.metric_value)
    return {"node_id": node.id, "metric": metric, "failure": failure, "step": told_by.numbers.step(node.id)}


def _standing(
    reader: RunReader, journal: Journal, told_by: _ToldBy, node_id: str, chosen: dict[str, Any]
) -> dict[str, Any]:
    """What the policy chose among, and the seed of its draws."""
    proposed = next(
        (
            event
            for event in reader.events(types=["node.proposed"])
            if isinstance(event, NodeProposed) and event.node_id == node_id
        ),
        None,
    )
    if proposed is None or proposed.operator in FREE_OPERATORS:
        return {}  # nobody chose: a baseline, the user's own, an ensemble
    seed = int((reader.fact("config") or {}).get("project", {}).get("seed", 0))
    told: dict[str, Any] = {
        "seed": {"run": seed, "round": proposed.round, "draws": derive_seed(seed, "ask", proposed.round)}
    }
    listed = chosen.get("candidates")
    if listed:
        ids = [entry["node_id"] if isinstance(entry, dict) else str(entry) for entry in listed]
        told["candidates"] = [_scored(journal, told_by, entry) for entry in ids]
    if proposed.generation is not None and "promoted" in chosen:
        told |= _tournament(reader, proposed.generation - 1)
    return told


def _tournament(reader: RunReader, generation: int) -> dict[str, Any]:
    """The ratings that the arena's parents were promoted by."""
    for event in reader.events(types=["generation.finished"]):
        if isinstance(event, GenerationFinished) and event.generation == generation:
            return {"candidates": event.ratings, "decision": event.decision}
    return {}


def _best(reader: RunReader, journal: Journal, told_by: _ToldBy) -> dict[str, Any]:
    ahead = sorted(journal.top(len(journal) if told_by.ratings.of else 5), key=told_by.ratings.rank, reverse=True)
    top = [_scored(journal, told_by, node.id) for node in ahead[:5]]
    best: dict[str, Any] = {"rule": RULE, "top": top}
    facts = reader.facts()
    if is_concluded(facts):
        final = facts["final"]
        told = conclusion_of(reader, facts)
        best["final"] = {
            "node_id": final["node_id"],
            "rule": rule_of(told.winner, facts) or RULE,
            "choice": choice_table(told.winner, facts),
            "verdict": told.verdict.text,
        }
    return best
