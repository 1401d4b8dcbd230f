"""Steps that were too fast for a line of their own."""

from __future__ import annotations

from core.events import NodeCommitted


class HeldBack:
    """Which steps they are, and what became of them."""

    def __init__(self) -> None:
        self.steps = 0
        self._last = 0
        self._scored = 0
        self._duplicates = 0
        self._nothing_left = 0

    def add(self, event: NodeCommitted, step: int) -> None:
        """Take in the step with this number."""
        self.steps += 1
        self._last = step
        if event.metric is not None:
            self._scored += 1
        elif event.nothing_left:
            self._nothing_left += 1
        elif not event.is_valid:
            self._duplicates += 1

    @property
    def text(self) -> str:
        """One line of them all."""
        first = self._last - self.steps + 1
        named = f"step {first} to {self._last}" if self.steps > 1 else f"step {first}"
        told = {
            "scored": self._scored,
            "not scored in full": self.steps - self._scored - self._duplicates - self._nothing_left,
            "duplicate" if self._duplicates == 1 else "duplicates": self._duplicates,
            "without a program, since nothing is left to gain": self._nothing_left,
        }
        return f"… {named}: {', '.join(f'{count} {what}' for what, count in told.items() if count)}"
