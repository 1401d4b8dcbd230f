"""`shared_property`: what is made when it is first asked for, once, however many threads ask."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property  # noqa: TID251 - here it gets its lock
from typing import Any, Self, TypeVar, overload

T = TypeVar("T")


class shared_property(cached_property[T]):
    """A `cached_property` that one thread makes while the others wait: since 3.12 Python's own lets each make one.

    The lock is the property's, for all its objects; from the second time on it is not taken.
    """

    def __init__(self, func: Callable[[Any], T]) -> None:
        super().__init__(func)
        self._making = threading.RLock()

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, instance: object | None, owner: type[Any] | None = None) -> Self | T:
        with self._making:
            return super().__get__(instance, owner)
