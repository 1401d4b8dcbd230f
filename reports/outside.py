"""Who wrote what: programs by their writer, tickets that were handed out, and the sessions of coding agents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict

from core.backend.records import WORDS
from core.contracts import SESSION
from core.state.node import Node
from core.storage.reader import RunReader
from core.storage.ticket_store import stored_tickets
from core.storage.unreadable import reads_store
from reports.improvements import with_gains
from utils.direction import Direction
from utils.patch import tree_patches

_NAMES = ("provider", "model")


class Wrote(BaseModel):
    """All programs of one writer: a model, an agent, `client` for whoever told a ticket, `rules`, the user."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    writer: str
    programs: int = 0
    failed: int = 0
    duplicates: int = 0
    improvements: int = 0
    """As `reports.improvements.with_gains` counts them."""
    best: float | None = None
    tokens: int | None = None
    """None where nobody counted."""
    cost_usd: float | None = None


def who_wrote(nodes: Iterable[Node], lower_is_better: bool) -> list[Wrote]:
    """A row a writer, the one with the most programs first.

    Args:
        nodes: in journal order.
    """
    direction = Direction(lower_is_better)
    rows: dict[str, Wrote] = {}
    for node, gain in with_gains(nodes, lower_is_better):
        name = node.writer or "unknown"
        row, score = rows.get(name) or Wrote(writer=name), node.metric_value if node.is_scored else None
        own = row.best if score is None or (row.best is not None and direction.better(row.best, score)) else score
        rows[name] = row.model_copy(update={
            "programs": row.programs + 1, "failed": row.failed + (node.failure is not None),
            "duplicates": row.duplicates + (node.duplicate_of is not None), "best": own,
            "improvements": row.improvements + (gain is not None), "cost_usd": _sum(row.cost_usd, node.cost_usd),
            "tokens": _sum(_sum(row.tokens, node.prompt_tokens), node.completion_tokens),
        })  # fmt: skip
    return sorted(rows.values(), key=lambda row: -row.programs)


def _sum(total: Any, more: Any) -> Any:
    return total if more is None else more if total is None else total + more


@reads_store
def tickets(reader: RunReader) -> list[dict[str, Any]]:
    """Each lease: its proposal, its state, who holds it, the checks that it used. No token: the store has none."""
    return [
        {"node_id": one.node_id, "state": one.state, "holder": one.holder, "expires_at": one.expires_at,
         "checks": one.checks, "characters": len(one.told)} for one in stored_tickets(reader.db)
    ]  # fmt: skip


@reads_store
def sessions(reader: RunReader) -> list[dict[str, Any]]:
    """Each session of an agent: its proposal, the replies of models it took, what they came to, what it changed.

    A proposal may have several, where what one handed in was of no use: an exchange is of the session that ends next.
    A request that was refused has no reply.
    """
    rows = reader.db.rows(
        "SELECT own.node_id, own.provider, own.model,"
        " count(turn.id) FILTER (WHERE turn.finish_reason != :words AND turn.finish_reason NOT GLOB '[45]??') AS turns,"
        " sum(turn.seconds) AS model_seconds,"
        " own.prompt_tokens, own.completion_tokens, own.cost_usd, own.seconds"
        " FROM (SELECT *, lag(id, 1, 0) OVER (PARTITION BY node_id ORDER BY id) AS before FROM calls"
        " WHERE role = 'code' AND node_id IN (SELECT node_id FROM calls WHERE role = :session)) AS own"
        " LEFT JOIN calls AS turn ON turn.node_id = own.node_id AND turn.role = :session"
        " AND turn.id > own.before AND turn.id < own.id"
        " GROUP BY own.id ORDER BY own.id",
        {"words": WORDS, "session": SESSION},
    )
    return [
        {"writer": f"{row['provider']}/{row['model']}", **{key: row[key] for key in row if key not in _NAMES},
         "files": _changed(reader.node(row["node_id"]))} for row in rows
    ]  # fmt: skip


def _changed(node: Node | None) -> list[str]:
    """Paths that a session changed; `program` where a program is one text, nothing where it handed in none."""
    if node is None or not node.code:
        return []
    patches = tree_patches(node.code)
    return ["program"] if patches is None else [patch.path for patch in patches]
