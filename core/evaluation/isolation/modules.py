"""Modules beside an evaluator that the searched program imports: they go along to the sandbox as text."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from core.evaluation.static_check import imported
from utils.syntax import parse

MOST_BYTES = 4 << 20
PROGRAM = "solution"
"""The module that a program is which answers calls."""
PACKAGE = ".__init__"
"""Ends the name of what a package (a folder) says itself: `helpers.__init__` beside `helpers.costs`."""


def modules_beside(folder: Path, code: str, but: str) -> dict[str, str]:
    """Name → source of the modules in `folder` that the program imports, and of what these import in turn.

    Args:
        but: stem of the evaluator's file: no program sees it, whatever it imports.
    """
    found: dict[str, str] = {}
    to_read = list(_wanted(code, ""))
    while to_read:
        name = to_read.pop()
        top = name.partition(".")[0]
        if top == but or top in sys.stdlib_module_names:
            continue
        try:
            key, path = _place(folder, name)
            if path is None or key in found:
                continue
            found[key] = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        except OSError:  # no file may be called so, or nobody may read it: the import says so where it is made
            continue
        to_read += _wanted(found[key], name if key.endswith(PACKAGE) else name.rpartition(".")[0])
    for name in list(found):
        found.update(_above(name.removesuffix(PACKAGE), found))
    total = sum(map(len, found.values()))
    return found if total <= MOST_BYTES else {}


def led_to(modules: Iterable[str], code: str, evaluator: str) -> list[str]:
    """Those of the modules that the evaluator imports and the program does not: another one of them leads there.

    Args:
        code, evaluator: source of the two.
    """
    meant, known = set(_wanted(evaluator, "")), set(_wanted(code, ""))
    return [name for name in modules if name.removesuffix(PACKAGE) in meant - known]


def _above(name: str, found: Mapping[str, str]) -> dict[str, str]:
    """Folders that a module lies in and that hold none themselves: Python goes through them."""
    parts = name.split(".")
    names = (".".join(parts[:number]) for number in range(1, len(parts)))
    return {above + PACKAGE: "" for above in names if above not in found and above + PACKAGE not in found}


def _place(folder: Path, name: str) -> tuple[str, Path | None]:
    """What a module is called among those that go along, and its file; a folder without an `__init__.py` is itself."""
    place = folder.joinpath(*name.split("."))
    if (module := place.with_name(f"{place.name}.py")).is_file() and not (place / "__init__.py").is_file():
        return name, module
    if place.is_dir() and next(place.glob("*.py"), None):
        return name + PACKAGE, place / "__init__.py"
    return name, None


def _wanted(code: str, package: str) -> Iterator[str]:
    """Names of what a source of that package may import, each with the packages that it lies in."""
    try:
        tree: ast.Module = parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    names = [module for _, module in imported(tree) if not module.startswith(".")]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            base = _from(node, package)
            names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    for name in names:
        parts = name.split(".")
        if all(part.isidentifier() for part in parts):
            yield from (".".join(parts[: number + 1]) for number in range(len(parts)))


def _from(node: ast.ImportFrom, package: str) -> str:
    """The module that `from … import` of a module in `package` names; '' where it leads out of it."""
    inside = package.split(".") if package else []
    above = inside[: len(inside) + 1 - node.level] if node.level else []
    return ".".join([*above, *filter(None, [node.module])])


def file_beside(name: str) -> str:
    """Where a module that goes along lies, as `helpers/costs.py`."""
    return f"{name.replace('.', '/')}.py"


_IMPORTER = '''
class __Beside:
    """Finds the modules that lie beside the evaluator."""
    sources = {sources!r}
    def find_spec(self, name, path=None, target=None):
        import importlib.machinery
        for key, file in ((name, ".py"), (name + ".__init__", "/__init__.py")):
            if key in self.sources:
                spec = importlib.machinery.ModuleSpec(
                    name, self, origin="/workspace/" + name.replace(".", "/") + file, is_package=key != name
                )
                spec.loader_state, spec.has_location = key, True
                return spec
    def create_module(self, spec):
        return None
    def get_source(self, name):
        return self.sources.get(name, self.sources.get(name + ".__init__"))
    def exec_module(self, module):
        spec = module.__spec__
        exec(compile(self.sources[spec.loader_state], spec.origin, "exec"), module.__dict__)
__import__("sys").meta_path.insert(0, __Beside())
'''


_OTHER_NAME = """\
__import__("sys").modules["program_itself"] = __import__("sys").modules.pop(__name__)
__name__ = "program_itself"
"""
"""Where one of the modules is called as a program is that answers calls, which would find itself in its place."""


def import_lines(modules: Mapping[str, str]) -> str:
    """Source that lets a program in the sandbox import these modules; '' where there are none."""
    if not modules:
        return ""
    is_taken = not {PROGRAM, PROGRAM + PACKAGE}.isdisjoint(modules)
    return _IMPORTER.replace("{sources!r}", repr(dict(modules))) + (_OTHER_NAME if is_taken else "")
