"""Why a path is no file, in words."""

from __future__ import annotations

from pathlib import Path


def no_file(path: str | Path) -> str:
    """`no such file`, or that a folder is there."""
    return "that is a folder, and a file is wanted" if Path(path).is_dir() else "no such file"
