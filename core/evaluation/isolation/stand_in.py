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
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

Fill = Callable[[ModuleType], Any]
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
    name = ""
    """That the file would be imported by; '' for no file."""
    path = ""

    def __init__(self, loader: _Loader) -> None:
        self._loader = loader

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        return importlib.machinery.ModuleSpec(fullname, self._loader, origin=self.path)


class StandIn:
    """Covers `importlib.util.spec_from_file_location(any name, path)`, `SourceFileLoader(any name, path)` and plain
    imports of the file's own name. Reading the file is refused: its text must not be executed here.

    It is put in place once, and then told in each process which file it is about.
    """

    def __init__(self, fill: Fill, refuse: Refuse) -> None:
        self._fill, self._refuse = fill, refuse
        self._loader = _Loader(fill, refuse)
        self._finder = _Finder(self._loader)
        self._path = self._real = ""

    def cover(self, path: str, real: str) -> None:
        """From here on it stands in for that file.

        Args:
            path: the candidate's file as the evaluator is told it.
            real: the same without symbolic links.
        """
        self._path, self._real = path, real
        self._finder.path, self._finder.name = path, os.path.splitext(os.path.basename(path))[0]

    def uncover(self) -> None:
        """From here on it stands in for nothing."""
        self._path = self._real = self._finder.name = ""

    def install(self) -> None:
        """Put it in place, behind whatever the evaluator has put there while it was loaded."""
        util: Any = importlib.util
        loaders: Any = importlib.machinery.SourceFileLoader
        location, load, opened = util.spec_from_file_location, loaders.exec_module, builtins.open

        def spec_from_file(name: str, location_: Any = None, **options: Any) -> Any:
            if not self._is_candidate(location_):
                return location(name, location_, **options)
            spec = importlib.machinery.ModuleSpec(name, self._loader, origin=self._path)
            spec.has_location = True
            return spec

        def exec_file(loader: importlib.machinery.SourceFileLoader, module: ModuleType) -> None:
            if self._is_candidate(loader.path):
                self._fill(module)
            else:
                load(loader, module)

        def open_other(file: Any, *args: Any, **options: Any) -> Any:
            if self._is_candidate(file):
                raise self._refuse("the evaluator reads the candidate's source text")
            return opened(file, *args, **options)

        util.spec_from_file_location, loaders.exec_module = spec_from_file, exec_file
        builtins.open = io.open = partial(open_other)  # `pathlib` before Python 3.11 would make a function its method
        sys.meta_path.insert(0, self._finder)

    def _is_candidate(self, file: Any) -> bool:
        if not self._path or not isinstance(file, (str, os.PathLike)):
            return False
        return file == self._path or os.path.realpath(os.fspath(file)) == self._real
