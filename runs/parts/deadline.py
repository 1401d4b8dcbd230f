"""Deadline: what ends a search while programs run."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from utils.allowance import Allowance


@dataclass(slots=True)
class Deadline:
    """`budget.seconds`, what `budget.usd` leaves for the machines, and the user's first Ctrl-C, for what is under way.

    Lifted once the search is over: the final score is owed to the user. What only chooses is cut off where the
    allowance of the end is over.

    Args:
        active_seconds: → seconds the run has been worked on, all its processes added up.
        usd: dollars of models and machines together; None: without a cap.
        usd_per_hour: what an hour of the machines costs.
        spent_usd: → dollars that calls have cost, or may have.
        interrupted: set once the user wants the end.
        doing: tells whoever watches what goes on.
        noun: what runs on the workers, as people call one.
        allowance: of the run's end.
        waits: what the end waits for besides those, in words; '' for nothing.
    """

    seconds: float | None
    active_seconds: Callable[[], float]
    interrupted: threading.Event
    doing: Callable[[str], None] = lambda text: None
    noun: str = "program"
    waits: str = ""
    lifted: bool = False
    usd: float | None = None
    usd_per_hour: float = 0.0
    spent_usd: Callable[[], float] = lambda: 0.0
    allowance: Allowance = field(default_factory=Allowance)

    def seconds_left(self) -> float:
        """Seconds until the budget ends, or the allowance of what only chooses; infinite without either."""
        return self.allowance.until_cut if self.lifted else self._end()[0] - self.active_seconds()

    @property
    def limit(self) -> str:
        """The key of the budget that ends first."""
        return self._end()[1]

    def _end(self) -> tuple[float, str]:
        """After how many active seconds, and by which key."""
        ends = [(math.inf if self.seconds is None else self.seconds, "budget.seconds")]
        if self.usd is not None and self.usd_per_hour > 0:
            ends.append(((self.usd - self.spent_usd()) * 3600 / self.usd_per_hour, "budget.usd"))
        return min(ends)

    def is_ending(self) -> bool:
        """True once the user wants the end of a search that goes on."""
        return not self.lifted and self.interrupted.is_set()

    def waits_for(self, running: int) -> None:
        """Tell what the end waits for: so many that run, and whatever else is under way."""
        jobs = [f"{running} {self.noun}{'s that run' if running != 1 else ' that runs'}"] if running else []
        found = " and ".join([*jobs, *([self.waits] if self.waits else [])])
        if found:
            self.doing(f"the end waits for {found}; what has not begun is left for a resume")
