"""What an evaluator's text says of the program that it judges, and how such texts are read; none is run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

SPECIFICATION = ".txt"
"""Ending of a file that may be FunSearch's specification, beside `.py`."""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_DEFINED = re.compile(r"^(?:class|def)\s+(\w+)", re.MULTILINE)
_CLASS = re.compile(r"^class\s+(\w+)", re.MULTILINE)
_MOST_BYTES = 4 << 20
_IN_COMMENT = re.compile(r"^#[ ]?(?=@funsearch\.(?:run|evolve)\b)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Template:
    """What an evaluator says of the program that it judges."""

    kind: Literal[
        "class", "specification", "instances", "files", "reference", "candidate", "printed", "marked", "answer",
        "search", "interface", "written",
    ]  # fmt: skip
    """Which form; `problems/script/harness.py` asks each in its own way."""
    program: str
    """The first program; '' where it lies in a file of its own."""
    asks: Mapping[str, Any] = field(default_factory=dict)
    """What that form's part of the harness has to know, by names of its own. Plain JSON."""
    about: str = ""
    """What is wanted, in their words."""
    lower_is_better: bool | None = None
    """None: their text does not say."""
    source: str = ""
    """Of a specification: the whole text, which FunSearch shows to its models."""
    wants: str = ""
    """Of a specification: the call that is given inputs, `evaluate(size)`; '' where none is."""
    arguments: tuple[str, ...] = ()
    """Names that `problem.options.evaluator_args` may set, of forms whose text says which."""
    has_others: bool = False
    """Some of its instances steer the search, and others score what is handed in."""
    others: tuple[str, ...] = ()
    """Paths of files whose instances do so, which `evaluator_args.filter_key` may leave out."""
    data: tuple[Path, ...] = ()
    """Folders of what it scores with."""
    offers: tuple[str, ...] = ()
    """Modules beside it that its programs may import, whether the first one does or not."""

    def has_final(self, arguments: Mapping[str, Any]) -> bool:
        """Whether instances that steer no search are left, given `evaluator_args`."""
        skipped = arguments.get("filter_key") or []
        return self.has_others or any(not any(key in name for key in skipped) for name in self.others)

    def begun_with(self, program: str) -> Template:
        """The same with a first program that its text does not say."""
        names = dict.fromkeys((class_of(program), *_DEFINED.findall(program)))
        return replace(self, program=program, asks={"names": [name for name in names if name]})

    @property
    def harness(self) -> dict[str, Any]:
        """What `problems/script/harness.py` has to know to call the evaluator."""
        return {"kind": self.kind, **self.asks}


def class_of(program: str) -> str:
    """The first class of a text, which need not parse; '' without."""
    found = _CLASS.search(program)
    return found[1] if found else ""


def parsed(path: Path) -> tuple[ast.Module | None, str]:
    try:
        if path.stat().st_size > _MOST_BYTES:
            return None, ""
        text = _IN_COMMENT.sub("", path.read_text(encoding="utf-8"))
        return ast.parse(text, path.name), text
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None, ""


def text_in(scopes: Sequence[ast.Module | ast.ClassDef], name: str) -> str:
    """The constant text of that name in the first of the scopes that has one; '' without."""
    for scope in scopes:
        for node in scope.body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            value = getattr(node, "value", None)
            is_named = any(isinstance(target, ast.Name) and target.id == name for target in targets)
            if is_named and isinstance(value, ast.Constant) and isinstance(value.value, str):
                return value.value
    return ""


def names_read(tree: ast.AST) -> set[str]:
    """What is read of the module around it."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def annotated(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        kinds = (getattr(node, "annotation", None), getattr(node, "returns", None))
        yield from (kind for kind in kinds if isinstance(kind, ast.expr))


def bound_in(tree: ast.Module) -> set[str]:
    """What the module's own lines give a name to."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, _DEFINITIONS):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(name.asname or name.name).partition(".")[0] for name in node.names}
        else:
            stored = (one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
            found |= {one.id for one in stored}
    return found
