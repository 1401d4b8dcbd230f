"""Swarm-Evo from Python: `swarm_evo.search(problem="bin_packing", budget={"seconds": 60})`.

`swarm_evo.open(problem=…)` starts one whose programs come from you: `run.ask()`, `run.tell(ticket, code=…)`.

The search runs in a child process; the result is read from its store. Nothing of ours but this package is importable in
yours.
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - nothing has asked yet where this folder is only on the path
    raise ImportError(f"swarm_evo needs Python 3.11 or newer, and {sys.executable} is {sys.version.split()[0]}")
if sys.argv[:1] == ["-m"] and "swarm_evo" in sys.orig_argv and not sys.flags.safe_path:
    del sys.path[0]  # `python -m swarm_evo`: no module of the current folder is meant, such as a random.py there

from swarm_evo.answers import (
    Check,
    Comparison,
    Deleted,
    Exported,
    Finding,
    Health,
    Labels,
    Plan,
    Replayed,
    RunRow,
    Verification,
)
from swarm_evo.errors import SearchError, SwarmEvoError
from swarm_evo.evolve import evolve
from swarm_evo.external import ExternalRun, open
from swarm_evo.result import Best, Result
from swarm_evo.run import Run, Step
from swarm_evo.search import fork, load, plan, resume, runs, search, start
from swarm_evo.stored import compare, delete, doctor, export_best, replay, report, tag, verify
from swarm_evo.sweep_answers import Sweep, SweepCell, SweepLine, SweepRow
from swarm_evo.sweeps import delete_sweep, load_sweep, sweep, sweeps

__all__ = [
    "Best", "Check", "Comparison", "Deleted", "Exported", "ExternalRun", "Finding", "Health", "Labels", "Plan",
    "Replayed", "Result", "Run", "RunRow", "SearchError", "Step", "SwarmEvoError", "Sweep", "SweepCell",
    "SweepLine", "SweepRow", "Verification",
    "compare", "delete", "delete_sweep", "doctor", "evolve", "export_best", "fork", "load", "load_sweep", "open",
    "plan", "replay", "report", "resume", "runs", "search", "start", "sweep", "sweeps", "tag", "verify",
]  # fmt: skip
__version__ = "0.1.0"
