"""What a process of the evaluator's prints quotes no line of the user's.

Standard library only: it is loaded by path into processes that hold user code and never see our packages.
"""

from __future__ import annotations

import linecache
import os
import sys
import threading
import traceback
from typing import Any

_LIBRARIES = f"{os.path.dirname(os.path.abspath(os.__file__))}{os.sep}"
_INSTALLED = ("/site-packages/", "/dist-packages/")
"""What programs see too."""


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


def _print_raised(told: Any) -> None:
    """In place of the interpreter's own, which like that of `sys.excepthook` reads the lines from the file."""
    if told.exc_type is not SystemExit:
        print("Nobody caught this:", file=sys.stderr)
        traceback.print_exception(told.exc_type, told.exc_value, told.exc_traceback)
