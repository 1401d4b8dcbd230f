"""What a run has begun: a resume may give it more steps, not fewer than these. What is proposed and nobody has begun
is withdrawn where a resume leaves no step for it: then no node comes of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.storage.reader import RunReader
from core.storage.ticket_store import WITHDRAWN
from utils.counts import counted

_OPEN = f"""
SELECT node_id, round,
       node_id IN (SELECT node_id FROM tickets) OR node_id IN (SELECT node_id FROM stages)
       OR node_id IN (SELECT node_id FROM calls WHERE node_id IS NOT NULL)
FROM tasks WHERE node_id NOT IN (SELECT id FROM nodes) AND node_id NOT IN ({WITHDRAWN})
ORDER BY round, slot, attempt
"""
"""(node, round, whether anybody has begun it) of each open proposal."""


@dataclass(frozen=True, slots=True)
class Begun:
    """Steps of a run."""

    done: int
    open: int
    """Proposals that are under way: they count with the limit of then, and are finished before anything else."""
    waiting: tuple[str, ...]
    """Nodes of proposals that nobody has begun, first proposed first: no writer has a ticket for one, no model was
    asked, nothing is stored of it."""

    limit: int | None
    """Steps that were allowed before; by steps by hand a run may have more."""

    @property
    def proposed(self) -> int:
        """Open proposals, begun or not. None by hand."""
        return self.open + len(self.waiting)

    def withdrawn(self, wanted: int | None) -> tuple[str, ...]:
        """Those of the waiting, the last ones, for which an end at `wanted` steps leaves none."""
        if wanted is None or wanted == self.limit:
            return ()
        fit = max(0, wanted - self.done - self.open)
        return self.waiting[fit:]

    def refusal(self, name: str, wanted: int) -> str:
        """Why a run cannot be told to end at `wanted` steps, in one line; '' where it can.

        Args:
            name: what the user calls the limit.
        """
        least = self.done + self.open
        if wanted >= least or wanted == self.limit:
            return ""
        told = f"{self.done} done" + f" and {self.open} under way, which are finished first" * bool(self.open)
        return f"{name}={wanted}: the run has begun {counted(least, 'step')} ({told}); allowed: {least} or more"


def begun_steps(reader: RunReader) -> Begun:
    """What the store says of it."""
    rows = reader.db.select(_OPEN)
    found = [(node_id, begun) for node_id, round_, begun in rows if not reader.fact(f"round/{round_}/by_hand")]
    waiting = tuple(node_id for node_id, begun in found if not begun)
    limit = ((reader.fact("config") or {}).get("search") or {}).get("max_steps")
    return Begun(reader.steps(), len(found) - len(waiting), waiting, limit)
