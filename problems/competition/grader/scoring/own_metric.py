"""A metric of the user's own: his function, in the form in which it wants to be asked.

`function(truth, predicted)` is given two arrays, of several targets with a column each;
`function(truth, predicted, rows)` the scored rows as well, with the columns that its file names;
`function(solution, submission, row_id_column_name)`, the form of Kaggle's own metrics, two tables.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..tables.exact import first_line
from .scores import Undefined

ARRAYS, ROWS, TABLES = "arrays", "rows", "tables"
_ID = "row_id_column_name"
"""What Kaggle's metrics call their third argument."""


class OwnMetricFault(Exception):
    """The user's metric raised, or gave what is no number: the text has its own words, after file and function."""


class OwnMetric:
    """The user's function, as a score of tables.

    Args:
        called: targets → what his sample submission calls their predictions.

    Raises:
        ValueError: the file cannot be loaded or has no such function. What it raises itself is passed on.
    """

    def __init__(self, file: str, name: str, called: Mapping[str, str] | None = None) -> None:
        self._path, self._name, self._called = Path(file), name, dict(called or {})
        self._function = _loaded(self._path, name)
        self.form = _form_of(self._function)
        self.takes: str | None = getattr(self._function, "takes", None)
        """`probability`, `numbers` or `classes`, where the user says so: `function.takes = "probability"`."""
        self._words = set() if self.form == ARRAYS else set(_words_of(self._path))

    def named(self, columns: Iterable[str]) -> list[str]:
        """Those of the columns that the file speaks of, where the function is given more than predictions."""
        return [name for name in columns if name in self._words]

    def score(self, truth: Any, predicted: Any, rows: Any, key: str) -> float:
        """Of tables with a column for each target.

        Args:
            rows: a table of the same rows, with the columns that `named` told of and `key`.
            key: the column of `rows` that names them.

        Raises:
            OwnMetricFault: the function raised or gives no number.
            Undefined: it gives one that is not finite.
        """
        try:
            given = self._function(*self._arguments(truth, predicted, rows, key))
        except (Exception, SystemExit) as error:  # the user's code
            raise OwnMetricFault(f"{self} raised {type(error).__name__}: {first_line(error)}") from error
        try:
            found = float(given)
        except (TypeError, ValueError) as error:
            raise OwnMetricFault(f"{self} gives no number but {given!r:.60}") from error
        if not math.isfinite(found):
            raise Undefined(f"{self} gives {found}")
        return found

    def _arguments(self, truth: Any, predicted: Any, rows: Any, key: str) -> tuple[Any, ...]:
        """Copies all of them: a function may write into what it is given."""
        if self.form == TABLES:
            ids, more = rows[[key]], rows[self.named(rows)].drop(columns=[key, *truth], errors="ignore")
            solution = pd.concat([_numbered(table) for table in (ids, truth, more)], axis=1)
            theirs = predicted.rename(columns=self._called)
            return solution, pd.concat([_numbered(table) for table in (ids, theirs)], axis=1), key
        both = tuple(np.array(table.iloc[:, 0] if table.shape[1] == 1 else table) for table in (truth, predicted))
        return (*both, _numbered(rows[self.named(rows)]).copy()) if self.form == ROWS else both

    def __str__(self) -> str:
        return f"{self._path}:{self._name}"


def _loaded(path: Path, name: str) -> Callable[..., Any]:
    spec = importlib.util.spec_from_file_location(f"own_metric_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"'{path}' is no Python file")
    sys.path.append(str(path.parent))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Callable[..., Any] | None = getattr(module, name, None)
    if not callable(function):
        raise ValueError(f"the file has no function {name}")
    return function


def _numbered(table: Any) -> Any:
    return table.reset_index(drop=True)


def _words_of(path: Path) -> Iterator[str]:
    """Texts and names of attributes in a Python file."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _form_of(function: Callable[..., Any]) -> str:
    """By its third argument, if it needs one."""
    try:
        needed = [
            one.name for one in inspect.signature(function).parameters.values()
            if one.default is one.empty and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
        ]  # fmt: skip
    except (TypeError, ValueError):  # a function in C
        return ARRAYS
    return ARRAYS if len(needed) < 3 else TABLES if needed[2] == _ID else ROWS
