"""How this program was started, for commands that a user may type next."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from itertools import pairwise
from pathlib import Path

INSTALLED = Path(__file__).resolve().parent.parent.name == "_app"
"""True in a wheel: there is no main.py that a user could type."""
_WORD = r"(?:'[^'`]+'|[^\s'`]+)"
SPOKEN = rf"(?:{_WORD} (?:'[^'`]*main\.py'|[^\s'`]*main\.py|-m swarm_evo)|[^\s'`]*swarm-evo)"
"""Pattern of what `program` answers, for who says it in other words."""


def program(*, anywhere: bool = False) -> str:
    """As it was typed: `python main.py`, `.venv/bin/python /opt/x/main.py`, `swarm-evo`.

    Args:
        anywhere: in words that hold in any folder.
    """
    file, words = sys.argv[0], _package()
    if words or INSTALLED:
        words = words if words and not shutil.which("swarm-evo") else ["swarm-evo"]
    elif Path(file).name == "main.py":
        words = [interpreter(), file]
    else:
        words = ["python", "main.py"]
    return shlex.join(map(_absolute, words) if anywhere else words)


def interpreter() -> str:
    """The interpreter as it was typed; of a process that is not our command line's, `python`."""
    is_main = Path(sys.argv[0]).name == "main.py" and sys.argv[0] in sys.orig_argv
    return sys.orig_argv[0] if is_main or _package() else "python"


def _package() -> list[str]:
    """The installed package as it was typed: `/venv/bin/swarm-evo`, `python -m swarm_evo`; [] for another start."""
    python, *typed = sys.orig_argv
    if Path("".join(typed[:1])).name == "swarm-evo":
        return typed[:1]
    return [python, "-m", "swarm_evo"] if ("-m", "swarm_evo") in pairwise(typed) else []


def command(project_dir: str, *words: str) -> str:
    """The program with `words`, and with `--project.dir` where that is not the current folder."""
    elsewhere = [] if Path(project_dir).resolve() == Path.cwd() else [f"--project.dir={shlex.quote(project_dir)}"]
    return " ".join([program(), *words, *elsewhere])


def _absolute(word: str) -> str:
    """A path from the root; a name that a shell finds by itself stays."""
    return os.path.abspath(word) if "/" in word or word == "main.py" else word
