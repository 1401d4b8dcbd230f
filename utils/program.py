"""How this program was started, for commands that a user may type next."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
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
    file, python, typed = sys.argv[0], interpreter(), sys.orig_argv[1:]
    if INSTALLED or Path(file).name == "swarm-evo":
        scripts = [word for word in typed[:1] if Path(word).name == "swarm-evo"]
        words = scripts or [python, "-m", "swarm_evo"]
        if shutil.which("swarm-evo") or not (scripts or "swarm_evo" in typed):
            words = ["swarm-evo"]
    elif Path(file).name == "main.py":
        words = [python, file]
    else:
        words = ["python", "main.py"]
    return shlex.join(map(_absolute, words) if anywhere else words)


def interpreter() -> str:
    """The interpreter as it was typed; of a process that is not our command line's, `python`."""
    name = Path(sys.argv[0]).name
    is_ours = name == "swarm-evo" or (name == "main.py" and sys.argv[0] in sys.orig_argv)
    return sys.orig_argv[0] if is_ours else "python"


def command(project_dir: str, *words: str) -> str:
    """The program with `words`, and with `--project.dir` where that is not the current folder."""
    elsewhere = [] if Path(project_dir).resolve() == Path.cwd() else [f"--project.dir={shlex.quote(project_dir)}"]
    return " ".join([program(), *words, *elsewhere])


def _absolute(word: str) -> str:
    """A path from the root; a name that a shell finds by itself stays."""
    return os.path.abspath(word) if "/" in word or word == "main.py" else word
