"""What becomes of a stored value that this version does not know: one line that says so, whoever stored it."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

from pydantic import ValidationError

from utils.clean_text import one_line
from utils.errors import BrokenStoreError

P = ParamSpec("P")
R = TypeVar("R")
_FAULTS = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, AssertionError, RecursionError,
           zlib.error)  # fmt: skip
"""What foreign values raise where ours are expected."""


class _OfARun(Protocol):
    @property
    def name(self) -> str: ...


S = TypeVar("S", bound=_OfARun)


@contextmanager
def unreadable(run: str) -> Iterator[None]:
    """Turn what a foreign or damaged value raises inside the block into a BrokenStoreError.

    A store is a file of anybody's: a newer version's, a damaged one, a stranger's. It may end its own display only.
    """
    try:
        yield
    except _FAULTS as error:
        raise BrokenStoreError(f"run {one_line(run, 100)} is unreadable: {_reason(error)}") from error


def reads_store(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """For methods that read rows of a run: `unreadable` with the run's name."""

    def reading(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with unreadable(self.name):
            return method(self, *args, **kwargs)

    return cast("Callable[Concatenate[S, P], R]", wraps(method)(reading))


def _reason(error: BaseException) -> str:
    if not isinstance(error, ValidationError):
        return one_line(f"{type(error).__name__}: {error}", 300)
    fault: Any = error.errors(include_url=False)[0]
    place = ".".join(map(str, fault["loc"])) or "value"
    return one_line(f"{error.title}.{place}={fault.get('input')!r}: {fault['msg']}", 300)
