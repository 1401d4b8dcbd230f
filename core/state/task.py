"""Task: one unit of work, from the choice of the parents to the verdict."""

from __future__ import annotations

from hashlib import blake2b
from random import Random

from pydantic import BaseModel, ConfigDict

from core.state.identity import PlainId
from core.state.operators import Operator

Place = tuple[int, int]
"""(round, slot) of a proposal, and of the repairs of its program."""


class Task(BaseModel):
    """What is to be written, from which parents, under which identity. Stored before any work starts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    node_id: PlainId
    operator: Operator
    parent_ids: tuple[str, ...] = ()
    round: int
    slot: int
    attempt: int = 0
    """0, or the number of the repair."""
    repairs: int = 0
    """How often a program that `Evaluator.check` refuses goes back to its writer, each attempt a node of its own."""
    generation: int | None = None
    island: int | None = None
    seen: int = 0
    """Nodes that the journal held when this was proposed: what its prompt may know."""
    steps_left: int | None = None
    """Steps up to the limit, this one included, as its writer is told; None without a limit."""
    seed: int
    """Seed of everything random in this task."""
    task_type: str = "explore"

    def rng(self, purpose: str) -> Random:
        """A generator of its own for each purpose, so that one more draw in one place moves no other."""
        return Random(derive_seed(self.seed, purpose))


def derive_seed(seed: int, *path: object) -> int:
    """A 63-bit seed for the place `path` in a run with `seed`; equal arguments give equal seeds on every machine."""
    text = "/".join([str(seed), *map(str, path)])
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


def node_id(seed: int, round_: int | str, slot: int, attempt: int = 0) -> str:
    """12 hex digits that name the node of a slot: a function of counters only."""
    text = f"{seed}/{round_}/{slot}/{attempt}"
    return blake2b(text.encode(), digest_size=6).hexdigest()
