"""What the loop is told before it starts, and what the user may ask of it while it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from core.state.journal import Journal
from core.state.task import Task


def lag_of(batch: int) -> int:
    """Proposals under way at once: the round that is committed next, and one behind it.

    One at a time (`search.batch=1`) means that every proposal knows all verdicts before it: then there is no lag.
    """
    return 1 if batch == 1 else 2 * batch


@dataclass(frozen=True, slots=True)
class Plan:
    """The settings of the loop."""

    seed: int
    lag: int | None = None
    """Proposals under way at once in a pipeline; None: `lag_of` the batch."""
    max_steps: int | None = None
    """Told to writers as steps left."""
    max_generations: int | None = None
    last_step: int | None = None
    """Nothing is begun that would be a later step; writers are not told. For a replay."""
    asked: Mapping[int, Task] = field(default_factory=dict)
    """Round → its first task, of a run that is replayed: the round is asked for when it was, with as many steps left. A
    run that ended and was given more has fewer under way there than its last limits would allow; one whose lag a resume
    changed, fewer or more."""
    withdrawn: Collection[str] = ()
    """Proposals that nobody wrote in the run that is replayed."""
    dropped: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """Round → those of them that were withdrawn before anything of that round was asked for, since nobody had begun
    them: policies count what is under way."""
    writers: int = 8
    """Threads that write and wait; how many candidates run at once is the job runner's to say."""


@dataclass(slots=True)
class Control:
    """What the user asked of a running search: read between rounds."""

    poll: Callable[[Journal], list[str]] = lambda _: []
    """Applies what is new to the journal and stores its events; returns the notes for the next prompts."""
    interrupted: threading.Event | None = None
    """Set by the first Ctrl-C: what runs ends, and nothing more is begun."""

    @property
    def is_interrupted(self) -> bool:
        """True once the user wants the end."""
        return self.interrupted is not None and self.interrupted.is_set()
