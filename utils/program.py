"""How this program was started, for commands that a user may type next."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

INSTALLED = Path(__file__).resolve().parent.parent.name == "_app"
"""True in a wheel: there is no main.py that a user could type."""


def program() -> str:
    """`swarm-evo` in an installed copy, else `python` with the path of main.py as it was typed."""
    typed = Path(sys.argv[0])
    if typed.name == "swarm-evo" or INSTALLED:
        return "swarm-evo"
    return f"python {shlex.quote(str(typed))}" if typed.name == "main.py" else "python main.py"
