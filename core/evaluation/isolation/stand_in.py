"""Every way of importing a candidate gives its stand-in, within one process of an evaluator's.

Standard library only: it is loaded by path into processes that hold user code and never see our packages.
"""

from __future__ import annotations

import builtins
import importlib.abc
import importlib.machinery
import importlib.util
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

Fill = Callable[[ModuleType], None]
"""Gives a module the program's names."""
Refuse = Callable[[str], Exception]
"""The exception to raise for what a stand-in cannot do, by its reason."""


class _Loader(importlib.abc.Loader):
    def __init__(self, fill: Fill, refuse: Refuse) -> None:
        self._fill, self._refuse = fill, refuse

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        self._fill(module)

    def get_code(self, name: str) -> Any:  # runpy.run_path and friends come here
        raise self._refuse("the evaluator wants the candidate's code object, not its functions")


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, name: str, loader: _Loader, path: str) -> None:
        self._name, self._loader, self._path = name, loader, path

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        return importlib.machinery.ModuleSpec(fullname, self._loader, origin=self._path)


@contextmanager
def installed(path: str, fill: Fill, refuse: Refuse) -> Iterator[None]:
    """Cover `importlib.util.spec_from_file_location(any name, path)`, `SourceFileLoader(any name, path)` and plain
    imports of the file's own name. Reading the file is refused: its text must not be executed here.

    Args:
        path: the candidate's file as the evaluator is told it.
    """
    loader = _Loader(fill, refuse)
    finder = _Finder(os.path.splitext(os.path.basename(path))[0], loader, path)
    real = os.path.realpath(path)
    location: Any = importlib.util.spec_from_file_location
    load: Any = importlib.machinery.SourceFileLoader.exec_module
    opened = builtins.open

    def is_candidate(file: Any) -> bool:
        return isinstance(file, (str, os.PathLike)) and os.path.realpath(os.fspath(file)) == real

    def spec_from_file(name: str, location_: Any = None, **options: Any) -> Any:
        if not is_candidate(location_):
            return location(name, location_, **options)
        spec = importlib.machinery.ModuleSpec(name, loader, origin=path)
        spec.has_location = True
        return spec

    def exec_file(self: importlib.machinery.SourceFileLoader, module: ModuleType) -> None:
        if is_candidate(self.path):
            fill(module)
        else:
            load(self, module)

    def open_other(file: Any, *args: Any, **options: Any) -> Any:
        if is_candidate(file):
            raise refuse("the evaluator reads the candidate's source text")
        return opened(file, *args, **options)

    patches: list[tuple[Any, str, Any]] = [
        (importlib.util, "spec_from_file_location", spec_from_file),
        (importlib.machinery.SourceFileLoader, "exec_module", exec_file),
        (builtins, "open", open_other),
        (io, "open", open_other),
    ]
    before = [getattr(owner, name) for owner, name, _ in patches]
    sys.meta_path.insert(0, finder)
    for owner, name, new in patches:
        setattr(owner, name, new)
    try:
        yield
    finally:
        for place, (owner, name, _) in enumerate(patches):
            setattr(owner, name, before[place])
        sys.meta_path.remove(finder)
