"""What is done right now with each open program: a small file of a live run, never stored and never decided by."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

WORK_FILE = "live/work.json"
"""Below the run's folder; rewritten a few times a second while something changes, gone when the process ends."""

LARGEST = 1 << 20
"""Bytes that are read of it."""

WorkState = Literal["waits_writer", "written", "waits_worker", "runs", "scored", "reviewed"]
"""`waits_writer`: its turn has come, and the model is not asked yet (all its calls are taken). `written`: it is asked.
`waits_worker`: its job waits for a worker. `runs`: it holds one. `scored`: what its jobs brought is judged, or it runs
together with others, in jobs that are nobody's own. An open program that is not in the file waits for its turn."""


class NodeWork(BaseModel):
    """One open program."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    state: WorkState
    since: float
    """Seconds since the epoch, by the clock of the machine that searches."""


class LiveWork(BaseModel):
    """The file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    running: int = 0
    """Jobs that hold a worker: programs, parts of them, games."""
    waiting: int = 0
    """Jobs that wait for one."""
    nodes: dict[str, NodeWork] = Field(default_factory=dict)


def read_live_work(run_dir: Path) -> LiveWork | None:
    """What the run's process told last; None where it has told nothing."""
    try:
        with (run_dir / WORK_FILE).open("rb") as file:
            return LiveWork.model_validate_json(file.read(LARGEST))
    except (OSError, ValidationError):
        return None
