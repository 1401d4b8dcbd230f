"""The command that adds one of the project's extras to this Python: what messages tell whoever lacks a package."""

from __future__ import annotations

import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent


def install_line(extra: str) -> str:
    """A line for the shell. A checkout is installed from its own folder, everything else from the package index."""
    what = f"{_ROOT}[{extra}]" if (_ROOT / "pyproject.toml").is_file() else f"swarm-evo[{extra}]"
    editable = "-e " if (_ROOT / "pyproject.toml").is_file() else ""
    return f"{sys.executable} -m pip install {editable}'{what}'"
