"""The sandbox's server, started with a verb's first instruction: its imports take longer than all else of a start."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.executor.early import EarlyServer

VERBS = ("run", "step", "resume", "fork")
"""Those that run programs in a run's folder; `run` is also what no verb means."""
_ONLY_TOLD = ("-h", "--help", "--version", "--plan", "--dry-run")
"""With these nothing runs."""


@contextmanager
def early_server(words: Sequence[str]) -> Iterator[EarlyServer | None]:
    """One like the last that such words asked for in the project that they name; None where nothing will run. It ends
    with this, unless somebody took it.
    """
    verb = words[0] if words else "run"
    is_run = verb in VERBS or verb.startswith("-") or "=" in verb
    if not is_run or any(word in _ONLY_TOLD for word in words):
        yield None
        return
    from core.executor.early import LAST, EarlyServer  # other verbs need nothing of it

    with closing(EarlyServer(_states(words), _about(words) if verb not in VERBS[1:] else LAST)) as early:
        yield early


def _states(words: Sequence[str]) -> Path:
    """Where the run's states probably are. What a configuration file says of it is not known yet: a guess is enough."""
    said = [word.partition("=")[2] for word in words if word.removeprefix("--").startswith("project.dir=")]
    place = said[-1] if said else os.environ.get("SWARM_EVO__PROJECT__DIR", ".")
    return Path(place).resolve() / "workspaces"


def _about(words: Sequence[str]) -> str:
    """Those of the words that say what the sandbox is for: which problem, which data, how programs are run."""
    starts = tuple(f"{dashes}{name}" for dashes in ("", "--") for name in ("problem", "config", "data.", "execution."))
    named = [f"{option} {word}" for option, word in pairwise(words) if option in ("--problem", "--config")]
    return " ".join(sorted([*named, *(word for word in words if word.startswith(starts) and "=" in word)]))
