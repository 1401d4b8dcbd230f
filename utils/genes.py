"""Genes: the named sections of a program, from which `merge` takes what is best in two parents.

A program may name them itself, with lines such as `# [SECTION: MODEL]`. Else they are told apart by what the
statements do: read data, make features, set up a model, train it, predict. Either way they are the program cut between
two of its statements: put together again, they are the program.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from utils.syntax import parse_shared, source_lines

HEAD = "HEAD"
"""What stands above the first marker."""

_MARKER = re.compile(r"^[ \t]*#[ \t]*\[SECTION:[ \t]*([A-Za-z][A-Za-z0-9_]*(?: +[A-Za-z0-9_]+)*)[ \t]*\][ \t\r\n]*$")

_READS = {"read_csv", "read_parquet", "read_json", "read_table", "read_pickle", "load", "open", "listdir", "glob"}
_TRAINS = {"fit", "train", "cross_val_score", "cross_val_predict", "cross_validate", "backward", "partial_fit"}
_PREDICTS = {"predict", "predict_proba", "decision_function", "to_csv"}
_MODEL_ENDS = ("Regressor", "Classifier", "Regression", "Ridge", "Lasso", "ElasticNet", "SVC", "SVR", "Booster",
               "Pipeline", "make_pipeline", "Sequential", "Module")  # fmt: skip
_MODEL_STEMS = ("LGBM", "XGB", "CatBoost")
_MODEL_NAMES = re.compile(rf"(?:{'|'.join(_MODEL_ENDS)}|(?:{'|'.join(_MODEL_STEMS)})\w*)$")
_TELLING = tuple(sorted({*_READS, *_TRAINS, *_PREDICTS, *_MODEL_ENDS, *_MODEL_STEMS}, key=len))
"""The text of a statement that makes a telling call holds one of these; without one, its tree is not walked."""


@dataclass(frozen=True, slots=True)
class _Span:
    """Statements that share a line, mostly one. Lines count from 0; `end` is behind the last."""

    begin: int
    end: int
    statements: tuple[ast.stmt, ...]


def split_genes(code: str) -> dict[str, str]:
    """Section name → its text, in the program's order: joined, the texts are `code`. {} for code that does not parse.

    A section that comes back is another one: `FEATURES 2`.
    """
    try:
        body = parse_shared(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    lines = source_lines(code, keepends=True)
    if not lines:
        return {}
    spans = _spans(body, lines)
    cuts = _marked(lines, spans) if "[SECTION:" in code else []
    cuts = cuts or _by_statement(lines, spans) or [(0, HEAD)]
    ends = [start for start, _ in cuts[1:]] + [len(lines)]
    counts: dict[str, int] = {}
    genes: dict[str, str] = {}
    for (start, name), end in zip(cuts, ends, strict=True):
        own = name
        while own in genes:
            counts[name] = counts.get(name, 1) + 1
            own = f"{name} {counts[name]}"
        genes[own] = "".join(lines[start:end])
    return genes


def gene_lengths(genes: Mapping[str, str], code: str) -> tuple[tuple[str, int], ...]:
    """(name, length) of each section: with the program they are the sections again. () where these are not it."""
    return tuple((name, len(text)) for name, text in genes.items()) if "".join(genes.values()) == code else ()


def cut_genes(code: str, lengths: Iterable[tuple[str, int]]) -> dict[str, str]:
    """The sections that have these names and lengths."""
    names, counts = zip(*lengths, strict=True)
    ends = list(accumulate(counts))
    return {name: code[begin:end] for name, begin, end in zip(names, [0, *ends], ends, strict=False)}


def _spans(body: list[ast.stmt], lines: list[str]) -> list[_Span]:
    spans: list[_Span] = []
    for statement in body:
        begin = min(statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ())), len(lines)) - 1
        end = statement.end_lineno or statement.lineno
        while _goes_on(lines, end):
            end += 1
        if spans and begin < spans[-1].end:
            last = spans.pop()
            spans.append(_Span(last.begin, max(end, last.end), (*last.statements, statement)))
        else:
            spans.append(_Span(begin, end, (statement,)))
    return spans


def _goes_on(lines: list[str], number: int) -> bool:
    """True if a backslash may join the line to the one before."""
    return 0 < number < len(lines) and lines[number - 1].rstrip("\r\n").endswith("\\")


def _marked(lines: list[str], spans: list[_Span]) -> list[tuple[int, str]]:
    """(first line, name) of the sections that the program names itself. A marker inside of a statement is none."""
    inside = {number for span in spans for number in range(span.begin, span.end)}
    found = [(number, _MARKER.match(line)) for number, line in enumerate(lines) if number not in inside]
    cuts = [(number, marker[1].upper()) for number, marker in found if marker and not _goes_on(lines, number)]
    return [(0, HEAD), *cuts] if cuts and cuts[0][0] > 0 else cuts


def _by_statement(lines: list[str], spans: list[_Span]) -> list[tuple[int, str]]:
    """(first line, name) of the sections as the statements tell them. Comments go with what they precede."""
    cuts: list[tuple[int, str]] = []
    done = 0
    for span in spans:
        now = cuts[-1][1] if cuts else ""
        name = _section_of(span.statements, "".join(lines[span.begin : span.end]), now or "DATA")
        if name != now:
            cuts.append((done, name))
        done = span.end
    return cuts


def _section_of(statements: Sequence[ast.stmt], text: str, now: str) -> str:
    """The latest stage of the work that the statements take part in; `now`, the section they stand in, if none tells.

    What follows the data and calls or indexes anything makes features.
    """
    if isinstance(statements[0], ast.Import | ast.ImportFrom):
        return "DATA"
    called: set[str] = set()
    if any(word in text for word in _TELLING):
        nodes = (node for statement in statements for node in ast.walk(statement) if isinstance(node, ast.Call))
        called = {getattr(node.func, "attr", getattr(node.func, "id", "")) for node in nodes}
    if called & _PREDICTS:
        return "PREDICT"
    if called & _TRAINS:
        return "TRAIN"
    if any(_MODEL_NAMES.search(name) for name in called):
        return "MODEL"
    if called & _READS:
        return "DATA"
    return "FEATURES" if now == "DATA" and ("(" in text or "[" in text) else now
