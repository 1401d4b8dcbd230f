"""Programs in colours, by Pygments: only token kinds become classes, every text is escaped as anywhere else."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from reports.facts import RunFacts
from reports.markup import LONGEST_CODE, Content, Markup, clip, tag
from utils.clean_text import visible

LONGEST_COLOURED = 60_000
"""Characters; a longer program is shown plain, since colours would double it."""
_CLASSES = (("Comment", "c"), ("Literal.String", "s"), ("Literal.Number", "n"), ("Keyword", "k"), ("Name.Builtin", "b"),
            ("Name.Function", "f"), ("Name.Class", "f"), ("Name.Decorator", "f"), ("Operator.Word", "k"),
            ("Generic.Inserted", "i"), ("Generic.Deleted", "d"), ("Generic.Subheading", "k"))  # fmt: skip
"""Token kind and all below it → class of `report.css`."""


def program(text: str, language: str = "python") -> Markup:
    """A program or a difference in a box that scrolls, in the colours of its language.

    Args:
        language: as Pygments calls it (`python`, `diff`, `rust`); one that it does not know is shown plain.
    """
    shown = visible(clip(text, LONGEST_CODE))
    return tag("pre", tag("code", *_coloured(shown, language)), tabindex="0", class_="code")


def _coloured(text: str, language: str) -> Iterator[Content]:
    """Text and spans, the same text in all."""
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    if len(text) > LONGEST_COLOURED:
        yield text
        return
    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        yield text
        return
    told = ((_class_of(str(kind)), value) for kind, value in lexer.get_tokens(text))
    for kind, parts in groupby(told, key=lambda part: part[0]):
        value = "".join(part for _, part in parts)
        yield tag("span", value, class_=kind) if kind else value


def _class_of(kind: str) -> str:
    name = kind.removeprefix("Token.")
    return next((class_ for prefix, class_ in _CLASSES if name == prefix or name.startswith(prefix + ".")), "")


def language(facts: RunFacts) -> str:
    """What the run's programs are written in, in Pygments' words; `text` where it does not know the file."""
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    problem = facts.config.get("problem")
    told = problem if isinstance(problem, dict) else {}
    if told.get("source"):
        return "diff"  # a candidate is a tree: its text is what it changes
    try:
        return str(get_lexer_for_filename(str(told.get("program") or "program.py")).aliases[0])
    except (ClassNotFound, IndexError):
        return "text"
