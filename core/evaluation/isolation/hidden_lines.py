"""What a process of the evaluator's prints quotes no line of the user's.

Standard library only: it is loaded by path into processes that hold user code and never see our packages.
"""

from __future__ import annotations

import linecache
import os
import re
import sys
import threading
import traceback
from collections.abc import Iterator
from typing import Any

_LIBRARIES = f"{os.path.dirname(os.path.abspath(os.__file__))}{os.sep}"
_INSTALLED = ("/site-packages/", "/dist-packages/", "/lib/python3")
"""What programs see too."""
_FRAME = re.compile(r'([ |+-]*)File "([^"\n]*)", line \d')
_PROGRAM = "candidate.py"
"""Of the program's own lines nothing is hidden."""
_DEEPEST = 50


def hide_lines() -> None:
    """From here on no traceback and no warning of this process quotes a line of the user's, whoever prints it.

    A program that raises where it is called, or gives what cannot be compared, would have its writer shown that line:
    what it is compared with often stands there. Files, numbers of lines and what was raised are told as ever.
    """
    quoted = linecache.getline

    def getline(filename: str, lineno: int, module_globals: Any = None) -> str:
        is_library = filename.startswith(_LIBRARIES) or any(part in filename for part in _INSTALLED)
        return quoted(filename, lineno, module_globals) if is_library else ""

    linecache.getline = getline
    sys.excepthook = lambda kind, error, trace: traceback.print_exception(kind, error, trace)
    threading.excepthook = _print_raised
    sys.unraisablehook = _print_raised


def without_lines(told: Any, levels: int = _DEEPEST) -> Any:
    """A text without the lines that tracebacks in it quote of the user's files, and so the texts in lists and mappings.

    A process of the evaluator's that has never met its program (a pool's, begun anew) prints them as ever.
    """
    if isinstance(told, str):
        return "".join(_unquoted(told)) if ", line " in told else told
    if levels and isinstance(told, dict):
        return {name: without_lines(value, levels - 1) for name, value in told.items()}
    return [without_lines(value, levels - 1) for value in told] if levels and isinstance(told, list) else told


def _unquoted(text: str) -> Iterator[str]:
    """What is indented below the line of a frame stands in its file."""
    quoted = ""
    for line in text.splitlines(keepends=True):
        frame = _FRAME.match(line)
        if frame is not None:
            is_shown = frame[2] == _PROGRAM or any(part in frame[2] for part in _INSTALLED)
            quoted = "" if is_shown else f"{frame[1]}  "
        elif quoted and line.startswith(quoted):
            continue
        else:
            quoted = ""
        yield line


def _print_raised(told: Any) -> None:
    """In place of the interpreter's own, which like that of `sys.excepthook` reads the lines from the file."""
    if told.exc_type is not SystemExit:
        print("Nobody caught this:", file=sys.stderr)
        traceback.print_exception(told.exc_type, told.exc_value, told.exc_traceback)
