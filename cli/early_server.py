"""The sandbox's server, started at a verb's first instruction: what it imports takes longer than all else of a start."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from core.executor.early import EarlyServer

VERBS = ("run", "step", "resume", "fork")
"""Those that run programs in a run's folder; `run` is also what a word that is no verb means."""
_ONLY_TOLD = ("-h", "--help", "--version", "--plan", "--dry-run")
"""With these nothing runs."""


def early_server(words: Sequence[str]) -> EarlyServer:
    """One like the last run's in the project that the words name; one that knows of none where nothing will run.

    Where the project lies may also stand in a file or in the environment, which are not read here: a guess is enough.
    """
    verb = words[0] if words else "run"
    is_run = verb in VERBS or verb.startswith("-") or "=" in verb
    if not is_run or any(word in _ONLY_TOLD for word in words):
        return EarlyServer(None)
    said = [word.partition("=")[2] for word in words if word.removeprefix("--").startswith("project.dir=")]
    place = said[-1] if said else os.environ.get("SWARM_EVO__PROJECT__DIR", ".")
    return EarlyServer(Path(place).resolve() / "workspaces")
