"""Genes: the named sections of a program, which `merge` takes from two parents.

A program may name them itself, with lines such as `# [SECTION: MODEL]`. Else they are told apart by what the
statements do: read data, make features, set up a model, train it, predict.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

from utils.syntax import parse_shared

SECTIONS = ("DATA", "FEATURES", "MODEL", "TRAIN", "PREDICT")
HEAD = "HEAD"
"""What stands above the first marker."""

_MARKER = re.compile(r"^[ \t]*#[ \t]*\[SECTION:[ \t]*([A-Za-z][A-Za-z0-9_ ]*?)[ \t]*\][ \t]*$")

_READS = {"read_csv", "read_parquet", "read_json", "read_table", "read_pickle", "load", "open", "listdir", "glob"}
_TRAINS = {"fit", "train", "cross_val_score", "cross_val_predict", "cross_validate", "backward", "partial_fit"}
_PREDICTS = {"predict", "predict_proba", "decision_function", "to_csv"}
_MODEL_ENDS = ("Regressor", "Classifier", "Regression", "Ridge", "Lasso", "ElasticNet", "SVC", "SVR", "Booster",
               "Pipeline", "make_pipeline", "Sequential", "Module")  # fmt: skip
_MODEL_STEMS = ("LGBM", "XGB", "CatBoost")
_MODEL_NAMES = re.compile(rf"(?:{'|'.join(_MODEL_ENDS)}|(?:{'|'.join(_MODEL_STEMS)})\w*)$")
_TELLING = tuple(sorted({*_READS, *_TRAINS, *_PREDICTS, *_MODEL_ENDS, *_MODEL_STEMS}, key=len))
"""The text of a statement that makes a telling call holds one of these; without one, its tree is not walked."""


def split_genes(code: str) -> dict[str, str]:
    """Section name → its text, in the program's order; {} for code that neither names sections nor parses."""
    return _marked(code) or _by_statement(code)


def has_sections(code: str) -> bool:
    """True if the program names its sections itself."""
    return any(_MARKER.match(line) for line in code.splitlines())


def join_genes(genes: Mapping[str, str]) -> str:
    """A program made of its sections, each below its marker. `split_genes` gives the same genes back."""
    parts = [genes[HEAD]] if genes.get(HEAD) else []
    parts += [f"# [SECTION: {name}]\n{text}" for name, text in genes.items() if name != HEAD]
    return "\n".join(part.rstrip("\n") for part in parts) + "\n"


def combine_genes(first: Mapping[str, str], second: Mapping[str, str], take: Iterable[str]) -> dict[str, str]:
    """`first` with the sections named in `take` from `second`; sections that `second` lacks stay as they are."""
    taken = set(take)
    return {name: second[name] if name in taken and name in second else text for name, text in first.items()}


def _marked(code: str) -> dict[str, str]:
    if "[SECTION:" not in code:
        return {}
    genes: dict[str, list[str]] = {}
    name = HEAD
    for line in code.splitlines():
        found = _MARKER.match(line)
        if found:
            name = found[1].upper()
            genes.setdefault(name, [])
        else:
            genes.setdefault(name, []).append(line)
    if set(genes) <= {HEAD}:
        return {}
    texts = {section: "\n".join(body).strip("\n") for section, body in genes.items()}
    return {section: text for section, text in texts.items() if text or section != HEAD}


def _by_statement(code: str) -> dict[str, str]:
    try:
        body = parse_shared(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    lines = code.splitlines()
    genes: dict[str, list[str]] = {}
    done = 0
    for statement in body:
        end = statement.end_lineno or statement.lineno
        if end <= done:  # a second statement on the same line went with the first
            continue
        own = lines[done:end]
        genes.setdefault(_section_of(statement, "\n".join(own)), []).extend(own)
        done = end
    ordered = [name for name in SECTIONS if name in genes]
    return {name: "\n".join(genes[name]).strip("\n") for name in ordered}


def _section_of(statement: ast.stmt, text: str) -> str:
    """The latest stage of the work that the statement takes part in."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return "DATA"
    if not any(word in text for word in _TELLING):
        return "FEATURES"
    called: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Call):
            called.add(getattr(node.func, "attr", getattr(node.func, "id", "")))
    if called & _PREDICTS:
        return "PREDICT"
    if called & _TRAINS:
        return "TRAIN"
    if any(_MODEL_NAMES.search(name) for name in called):
        return "MODEL"
    return "DATA" if called & _READS else "FEATURES"
