"""What is done right now with each open program: a small file of a live run, never stored and never decided by."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from utils.regular_files import read_regular

WORK_FILE = "live/work.json"
"""Below the run's folder; rewritten a few times a second while something changes, gone when the process ends."""

LARGEST = 1 << 20
"""Bytes; a larger file tells nothing. A run's folder may come from a stranger."""

LONGEST = 400
"""Characters of what is said to go on."""

Jobs = Annotated[int, Field(ge=0, le=1_000_000)]

WorkState = Literal["waits_writer", "written", "waits_worker", "runs", "scored", "reviewed"]
"""`waits_writer`: its turn has come, and the model is not asked yet (all its calls are taken). `written`: it is asked.
`waits_worker`: its job waits for a worker. `runs`: it holds one. `scored`: what its jobs brought is judged, or it runs
together with others, in jobs that are nobody's own. An open program that is not in the file waits for its turn."""


class NodeWork(BaseModel):
    """One open program."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    state: WorkState
    since: float = Field(ge=0.0, le=1e11, allow_inf_nan=False)
    """Seconds since the epoch, by the clock of the machine that searches."""


class LiveWork(BaseModel):
    """The file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    running: Jobs = 0
    """Jobs that hold a worker: programs, parts of them, games."""
    waiting: Jobs = 0
    """Jobs that wait for one."""
    nodes: dict[str, NodeWork] = Field(default_factory=dict)
    doing: str = Field("", max_length=LONGEST)
    """What goes on besides the programs, as the terminal says it: `generation 2, round robin: 14 of 48 games`."""


def read_live_work(run_dir: Path) -> LiveWork | None:
    """What the run's process told last; None where it has told nothing."""
    try:
        return LiveWork.model_validate_json(read_regular(run_dir / WORK_FILE, LARGEST))
    except (OSError, ValueError):
        return None
