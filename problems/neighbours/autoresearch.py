"""autoresearch: `prepare.py` stays, `train.py` is searched, `program.md` says what is wanted; the metric is printed."""

from __future__ import annotations

import re
from pathlib import Path

from problems.neighbours.reading import Told, Translation, text_of
from utils.errors import ConfigError

NAME = "autoresearch's folder"
NEEDS = "autoresearch's has prepare.py, train.py and program.md"
_METRIC = re.compile(r"\b(val_bpb|val_loss|val_[a-z]\w*)\b")
_LOW = re.compile(r"bpb|loss|error|perplexity", re.IGNORECASE)


def recognises(folder: Path) -> bool:
    return all((folder / name).is_file() for name in ("prepare.py", "train.py", "program.md"))


def read(folder: Path, told: Told) -> Translation:
    """The metric is the first `val_…` that `program.md` names, unless the user names one."""
    goal = text_of(folder / "program.md")
    found = _METRIC.search(goal)
    name = told.metric or (found[1] if found else None)
    if name is None:
        raise ConfigError(f"problem.path={folder}: program.md names no val_… metric; say --problem.metric=NAME")
    return Translation(
        {
            "problem.kind": "command",
            "problem.source": str(folder),
            "problem.editable": "train.py",
            "problem.eval": f"{told.python} train.py",
            "problem.metric": name,
            "problem.direction": "min" if _LOW.search(name) else "max",
            "problem.options": {"statement": goal},
            "execution.timeout": 900.0,
        }
    )
