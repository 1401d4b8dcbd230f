"""python-chess is GPL and never ours: tests that need it use an interpreter that has it, or are skipped."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache

VARIABLE = "SWARM_EVO_CHESS_PYTHON"
WITHOUT = f"no interpreter with chess and rust_chess: point {VARIABLE} to one (pip install chess rust-chess)"


@cache
def chess_python() -> str | None:
    """An interpreter that has python-chess and rust-chess, or None."""
    for python in filter(None, (os.environ.get(VARIABLE), sys.executable)):
        try:
            done = subprocess.run(
                [python, "-I", "-c", "import chess.engine, rust_chess"], capture_output=True, timeout=240
            )
        except OSError:
            continue
        if done.returncode == 0:
            return python
    return None
