"""An engine as one file that runs by itself."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

from core.arena.player import SEAT_TEXT
from utils.syntax import parse, source_lines, without_future

_SHELL = (Path(__file__).parent / "uci_shell.py").read_text(encoding="utf-8")


def standalone(code: str, prelude: str, title: str) -> str:
    """One Python file: the engine, the Position it needs, and a UCI loop. `engine` is bound as in the original.

    Args:
        title: first line of the file's docstring; printable text.
    """
    future, rest = without_future(code)
    limit = SEAT_TEXT[SEAT_TEXT.index("class Limit") : SEAT_TEXT.index("class Seat")]
    shell = textwrap.indent(_SHELL.partition('"""\n\n')[2], "    ")
    parts = [
        f'"""{_printable(title)}\n\nExported by Swarm-Evo. Speaks UCI on stdin and stdout: `python FILE`.\n"""',
        future,
        _body(prelude),
        limit,
        "# ---------------------------------------------------------------- the engine",
        rest.strip(),
        "# ---------------------------------------------------------------- UCI",
        f"def _speak_uci():\n{shell}\n    serve(engine, Position, Limit)\n",
        'if __name__ == "__main__":\n    _speak_uci()\n',
    ]
    return "\n\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def _body(source: str) -> str:
    """A module's text without its docstring."""
    tree = parse(source)
    if tree.body and ast.get_docstring(tree) is not None:
        return "\n".join(source_lines(source)[tree.body[0].end_lineno :])
    return source


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() and c not in '"\\' else " " for c in text)[:200]
