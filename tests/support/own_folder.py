"""A user's own folder of tables, prepared as a search would find it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from problems.competition.problem import build
from utils.config import load_config


def made(tmp_path: Path, *words: str, **files: str | bytes) -> Any:
    """The problem of a folder with these files (`train__csv` is `train.csv`)."""
    (tmp_path / "mine").mkdir(exist_ok=True)
    for name, content in files.items():
        content = content.encode() if isinstance(content, str) else content
        (tmp_path / "mine" / name.replace("__", ".")).write_bytes(content)
    at = [f"data.dir={tmp_path / 'mine'}", "data.target=rent", "data.metric=mae", *words]
    problem = build(load_config(None, at), tmp_path)
    problem.prepare()
    return problem
