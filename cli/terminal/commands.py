"""Commands as a user can type them next, in the folder where this one was typed."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from runs.facts import RunFacts


def program() -> str:
    """How this program was started: `swarm-evo`, or `python` with the path of main.py as it was typed."""
    typed = Path(sys.argv[0])
    if typed.name == "swarm-evo":
        return "swarm-evo"
    return f"python {shlex.quote(str(typed))}" if typed.name == "main.py" else "python main.py"


def command(facts: RunFacts, *words: str) -> str:
    """The words after the program's name, with `--project.dir` where the run does not lie below the current folder."""
    folder = facts.config.project.dir
    elsewhere = [] if Path(folder).resolve() == Path.cwd() else [f"--project.dir={shlex.quote(str(folder))}"]
    return " ".join([program(), *words, *elsewhere])


def interrupted_line(facts: RunFacts) -> str:
    """What a user reads whose run was interrupted."""
    return f"interrupted; everything is saved. Go on with: {command(facts, 'resume', facts.run)}"
