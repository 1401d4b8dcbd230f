"""What a run has begun: a resume may give it more steps, not fewer than these."""

from __future__ import annotations

from dataclasses import dataclass

from core.storage.reader import RunReader
from core.storage.ticket_store import WITHDRAWN


@dataclass(frozen=True, slots=True)
class Begun:
    """Steps of a run."""

    done: int
    proposed: int
    """Open proposals: they count with the limit of then, and are finished before anything else. None by hand."""

    limit: int | None
    """Steps that were allowed before; by steps by hand a run may have more."""

    def refusal(self, name: str, wanted: int) -> str:
        """Why a run cannot be told to end at `wanted` steps, in one line; '' where it can.

        Args:
            name: what the user calls the limit.
        """
        least = self.done + self.proposed
        if wanted >= least or wanted == self.limit:
            return ""
        told = f"{self.done} done" + f" and {self.proposed} proposed, which are finished first" * bool(self.proposed)
        return f"{name}={wanted}: the run has begun {least} steps ({told}); allowed: {least} or more"


def begun_steps(reader: RunReader) -> Begun:
    """What the store says of it."""
    rounds = reader.db.select(
        f"SELECT round FROM tasks WHERE node_id NOT IN (SELECT id FROM nodes) AND node_id NOT IN ({WITHDRAWN})"
    )
    proposed = sum(not reader.fact(f"round/{round_}/by_hand") for (round_,) in rounds)
    return Begun(reader.steps(), proposed, ((reader.fact("config") or {}).get("search") or {}).get("max_steps"))
