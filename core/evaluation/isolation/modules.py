"""Modules beside an evaluator that the searched program imports: they go along to the sandbox as text."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from pathlib import Path

from core.evaluation.static_check import imported
from utils.syntax import parse

MOST_BYTES = 4 << 20


def modules_beside(folder: Path, code: str, but: str) -> dict[str, str]:
    """Name → source of the modules in `folder` that the program imports, and of what these import in turn.

    Args:
        but: stem of the evaluator's file: no program sees it, whatever it imports.
    """
    found: dict[str, str] = {}
    to_read = _wanted(code)
    while to_read:
        name = to_read.pop()
        path = folder / f"{name}.py"
        if name in found or name == but or name in sys.stdlib_module_names or not path.is_file():
            continue
        found[name] = path.read_text(encoding="utf-8", errors="replace")
        to_read += _wanted(found[name])
    total = sum(map(len, found.values()))
    return found if total <= MOST_BYTES else {}


def _wanted(code: str) -> list[str]:
    """Top-level names of what a source imports."""
    try:
        tree: ast.Module = parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [module.partition(".")[0] for _, module in imported(tree)]


_IMPORTER = '''
class __Beside:
    """Finds the modules that lie beside the evaluator."""
    sources = {sources!r}
    def find_spec(self, name, path=None, target=None):
        if name in self.sources:
            import importlib.machinery
            return importlib.machinery.ModuleSpec(name, self, origin="/workspace/" + name + ".py")
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        exec(compile(self.sources[module.__name__], "/workspace/" + module.__name__ + ".py", "exec"), module.__dict__)
__import__("sys").meta_path.insert(0, __Beside())
'''


def import_lines(modules: Mapping[str, str]) -> str:
    """Source that lets a program in the sandbox import these modules; '' where there are none."""
    return _IMPORTER.replace("{sources!r}", repr(dict(modules))) if modules else ""
