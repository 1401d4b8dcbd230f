"""Python as text and tree: parsed from several threads at once, counted in its own lines, edited in place."""

from __future__ import annotations

import ast
import codecs
import re
import threading
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from itertools import accumulate, islice

from utils.clean_text import one_line

_LOCK = threading.Lock()
_ATTEMPTS = 8

LARGEST_MOVED = 1e15
"""Size of the largest number that is changed: whole numbers up to it are exact as floats."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_ENCODING = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)
_NO_TEXTS = frozenset({"idna", "punycode", "raw-unicode-escape", "unicode-escape"})
"""Encodings that no program is written in: read in quadratic time, or with escapes."""


@lru_cache(maxsize=64)  # the programs of some rounds are under way at the same time
def parse_shared(source: str) -> ast.Module:
    """`parse` for who only looks: the same tree for all who ask of the same program. It must not be changed."""
    return parse(source)


def parse(source: str) -> ast.Module:
    """`ast.parse` that threads may share.

    CPython 3.11 keeps one recursion counter for all threads while it turns a tree into objects (gh-106905): when a
    garbage collection lets another thread in, a sound program raises SystemError. One thread at a time is let in here,
    and a parse that somebody disturbed from outside is done again.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as `ast.parse`.
    """
    for attempt in range(_ATTEMPTS):
        try:
            with _LOCK:
                return ast.parse(source)
        except SystemError:
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


def is_movable(value: object) -> bool:
    """True for a number that code of ours may move.

    A program may name whole numbers beyond floats (10**400 written out) and floats beyond all (1e400): a factor, a
    reach or a sampler's bounds would overflow. Such a number stays as it is.
    """
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST_MOVED


def source_lines(source: str, keepends: bool = False) -> list[str]:
    """The lines as `lineno` counts them.

    `str.splitlines` also ends a line at a form feed, a file separator or U+2028, which may stand inside of a string.
    """
    if "\r" not in source and not keepends:
        plain = source.split("\n")
        return plain if plain[-1] else plain[:-1]
    lines: list[str] = _LINE.findall(source)
    return lines if keepends else [line.rstrip("\r\n") for line in lines]


def foreign_encoding(source: str) -> str | None:
    """The encoding that a program declares in its first two lines, where its file would hold another text in it.

    A program runs here as the text that it is, and is handed over as a file in UTF-8. Python reads that as it is told
    there: by `# coding: unicode_escape`, what is a remark here (`# \\u000a...`) would be a statement there.
    """
    found = (_ENCODING.match(line[0]) for line in islice(_LINE.finditer(source), 2))
    return next((match[1] for match in found if match is not None and not _is_same_in(source, match[1])), None)


def _is_same_in(source: str, encoding: str) -> bool:
    try:
        name = codecs.lookup(encoding).name.replace("_", "-")
        if name == "utf-8" or name in _NO_TEXTS:
            return name == "utf-8"
        return source.encode("utf-8", "surrogatepass").decode(name) == source
    except (LookupError, ValueError):
        return False


@lru_cache(maxsize=64)
def syntax_error(code: str) -> str | None:
    """One line that names the first syntax error of Python `code`; None if it parses."""
    before, nul, _ = code.partition("\0")
    if nul:
        return f"NUL byte at line {len(source_lines(before + nul))}"
    if encoding := foreign_encoding(code):
        return f"the encoding {encoding[:40]!r} is declared: as a file it would be another program; take UTF-8"
    try:
        parse_shared(code)
    except SyntaxError as error:
        line = f": {error.text.strip()[:120]}" if error.text else ""
        return one_line(f"line {error.lineno}: {error.msg}{line}")
    except (ValueError, RecursionError, MemoryError) as error:
        return f"{type(error).__name__}: {error}"
    return None


def with_texts(source: str, edits: Iterable[tuple[ast.expr | ast.stmt, str]]) -> str:
    """The source with other texts in place of nodes of its tree; every other character stays."""
    text = source.encode()
    starts = [0, *accumulate(len(line.encode()) for line in source_lines(source, keepends=True))]
    spans = []
    for node, new in edits:
        assert node.end_lineno is not None and node.end_col_offset is not None
        begin, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        spans.append((begin, end, new.encode()))
    for begin, end, new_text in sorted(spans, reverse=True):
        glued = (text[begin - 1 : begin] + new_text[:1]).isalnum() and begin > 0  # `return-3`
        text = text[:begin] + (b" " if glued else b"") + new_text + text[end:]
    return text.decode()


def without_future(source: str) -> tuple[str, str]:
    """(its imports from `__future__`, the source without them): the former must stand first in a file.

    A source that does not parse has none.
    """
    try:
        body = parse_shared(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "", source
    found = [node for node in body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    lines = Counter(line for node in body for line in {node.lineno, node.end_lineno})
    edits = [(node, "pass" if lines[node.lineno] > 1 or lines[node.end_lineno] > 1 else "") for node in found]
    return "\n".join(map(ast.unparse, found)), with_texts(source, edits)


@lru_cache(maxsize=1024)
def form_hash(source: str) -> str:
    """SHA-256 of a program without its numbers: equal for programs that differ in constants alone.

    Of a text that is no Python it is that of the text.
    """
    try:
        source = ast.dump(_Numberless().visit(parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    return sha256(source.encode(errors="surrogatepass")).hexdigest()


class _Numberless(ast.NodeTransformer):
    """Writes 0 for each number, its sign included."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant(0) if type(node.value) in (int, float) else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        inner = self.generic_visit(node)
        is_sign = isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)
        return node.operand if is_sign else inner
