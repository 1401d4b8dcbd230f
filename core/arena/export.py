"""An engine as one file that runs by itself."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping
from pathlib import Path

from core.arena.player import SEAT_TEXT
from utils.syntax import parse, source_lines, with_texts, without_future

SHEBANG = "#!/usr/bin/env python3"
_ABOUT = "Exported by Swarm-Evo. Speaks UCI on stdin and stdout: `python FILE`."
_SHELL = (Path(__file__).parent / "uci_shell.py").read_text(encoding="utf-8")


def standalone(code: str, prelude: str, title: str, needs: Mapping[str, str] | None = None) -> str:
    """One Python file: the engine, the Position it needs, and a UCI loop. `engine` is bound as in the original.

    Args:
        title: first line of the file's docstring; printable text.
        needs: modules that it imports → what `pip install` calls them.
    """
    (future, rest), (rules_future, rules) = without_future(code), without_future(prelude)
    limit = SEAT_TEXT[SEAT_TEXT.index("class Limit") : SEAT_TEXT.index("class Seat")]
    shell = textwrap.indent(_SHELL.partition('"""\n\n')[2], "    ")
    parts = [
        f'{SHEBANG}\n"""{_printable(title)}\n\n{_ABOUT}\n"""',
        f"{future}\n{rules_future}",
        *(_needed(module, package) for module, package in sorted((needs or {}).items())),
        _body(rules),
        limit,
        "# ---------------------------------------------------------------- the engine",
        _without_main(rest).strip(),
        "# ---------------------------------------------------------------- UCI",
        f"def _speak_uci():\n{shell}\n    serve(engine, Position, Limit)\n",
        'if __name__ == "__main__":\n    _speak_uci()\n',
    ]
    return "\n\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def _without_main(source: str) -> str:
    """The source without what it does where its file is the program: there it speaks UCI."""
    mains = ("__name__ == '__main__'", "'__main__' == __name__")
    found = [node for node in parse(source).body if isinstance(node, ast.If) and ast.unparse(node.test) in mains]
    return with_texts(source, [(node, "pass") for node in found if not node.orelse])


def _needed(module: str, package: str) -> str:
    """One line in place of a traceback where a module is not installed."""
    return (
        f"try:\n    import {module}\nexcept ModuleNotFoundError:\n"
        f'    raise SystemExit("this engine needs {package}: python -m pip install {package}") from None'
    )


def _body(source: str) -> str:
    """A module's text without its docstring."""
    tree = parse(source)
    if tree.body and ast.get_docstring(tree) is not None:
        return "\n".join(source_lines(source)[tree.body[0].end_lineno :])
    return source


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() and c not in '"\\' else " " for c in text)[:200]
