"""The command that adds one of the project's extras to this Python: what messages tell whoever lacks a package."""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent


def install_line(extra: str) -> str:
    """A line for the shell. A checkout is installed from its own folder; elsewhere the extra's packages are named."""
    checkout = (_ROOT / "pyproject.toml").is_file()
    what = [f"-e '{_ROOT}[{extra}]'"] if checkout else [f"'{package}'" for package in _packages(extra)]
    return " ".join([installer(), *(what or [f"'swarm-evo[{extra}]'"])])


def installer() -> str:
    """What installs packages into this Python: its own pip, or uv where that made an environment without one."""
    python = shlex.quote(sys.executable)
    return f"{python} -m pip install" if importlib.util.find_spec("pip") else f"uv pip install --python {python}"


def _packages(extra: str) -> list[str]:
    """What the installed copy says that the extra needs: it may have come from a file that no index has."""
    try:
        wanted = requires("swarm-evo") or []
    except PackageNotFoundError:
        return []
    marker = re.compile(rf"extra\s*==\s*[\"']{re.escape(extra)}[\"']")
    return [line.partition(";")[0].strip() for line in wanted if marker.search(line)]
