"""Which packages a program imports that take long to load: a program is forked from an interpreter that holds them.

One that holds more than a program needs is copied with all of it: with numpy a small program takes a fifth more of the
processor, and what the program has to import by itself takes far longer than the program (torch 3 to 6 s).
"""

from __future__ import annotations

import re
from collections.abc import Collection

LONG = ("numpy", "scipy", "pandas", "sklearn", "torch")
"""Each with those before it: so there are few interpreters, whatever programs import."""
_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t].*", re.MULTILINE)
_WORD = re.compile(r"\w+")


def long_imports(program: str, held: Collection[str] = ()) -> tuple[str, ...]:
    """Of LONG, what `program` names in its imports and what comes before that, but for what is loaded with `held`.

    The text is looked at, not understood: what it imports in another way it loads by itself.
    """
    named = {word for line in _IMPORT.findall(program) for word in _WORD.findall(line)}
    return LONG[_reach(held) : _reach(named)]


def _reach(names: Collection[str]) -> int:
    return max((place + 1 for place, name in enumerate(LONG) if name in names), default=0)
