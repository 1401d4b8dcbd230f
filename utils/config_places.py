"""Where the configuration comes from, and the one key that is asked for without the rest."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

CONFIG_DIR = Path(__file__).resolve().parent.parent / "config"
ENV_PREFIX = "SWARM_EVO__"
PROJECT_DIR = "."
"""`project.dir` where nothing else is said."""


def plain_project_dir(overrides: Sequence[str]) -> str | None:
    """`project.dir`, or None where only the whole configuration can tell.

    To load and check that takes a third of a second, more than a list of thousands of runs.
    """
    if overrides or any(name.startswith(ENV_PREFIX) for name in os.environ):
        return None
    text = (CONFIG_DIR / "default.yaml").read_text(encoding="utf-8")
    if "dir" not in text:  # no such key in it, however it is written: then nothing has to be read
        return PROJECT_DIR
    import yaml

    told = yaml.safe_load(text)
    found = told.get("project", {}).get("dir", PROJECT_DIR)
    return found if isinstance(found, str) and "${" not in found else None
