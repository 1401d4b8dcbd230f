"""Which step of the search a node is: the one number that every surface shows beside its id."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from core.state.operators import FREE_OPERATORS


class Numbering:
    """Steps are counted from 1 in the order of the journal; what is no step (`FREE_OPERATORS`) has no number.

    Args:
        nodes: (id, operator) of all nodes in journal order.
    """

    def __init__(self, nodes: Iterable[tuple[str, str]]) -> None:
        self._so_far: dict[str, int] = {}
        self._ids: list[str] = []
        self._free: set[str] = set()
        steps = 0
        for node_id, operator in nodes:
            if operator in FREE_OPERATORS:
                self._free.add(node_id)
            else:
                steps += 1
                self._ids.append(node_id)
            self._so_far[node_id] = steps

    def __contains__(self, node_id: str) -> bool:
        """True for what the journal holds."""
        return node_id in self._so_far

    def at(self, place: int) -> str | None:
        """The node at that place of the journal, from 0, as prompts number programs; None where there is none."""
        return next(islice(self._so_far, place, None), None)

    def node_id(self, step: int) -> str | None:
        """The node that is this step; None where there is none yet."""
        return self._ids[step - 1] if 0 < step <= len(self._ids) else None

    def step(self, node_id: str) -> int | None:
        """Its number; None for a baseline, a program of the user's, an ensemble, and what the journal lacks."""
        return None if node_id in self._free else self._so_far.get(node_id)

    def so_far(self, node_id: str) -> int:
        """Steps up to it, itself included: where it stands on an axis of steps."""
        return self._so_far.get(node_id, 0)

    def name(self, node_id: str) -> str:
        """`step 7`; '' for what is no step."""
        step = self.step(node_id)
        return "" if step is None else f"step {step}"
