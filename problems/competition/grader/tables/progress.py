"""Tells what takes long, once a second at most."""

from __future__ import annotations

import time
from collections.abc import Callable

Tell = Callable[[str], None]


def nobody(text: str) -> None:
    """Where nobody listens."""


class EachSecond:
    """Tells a text where a second has passed since the last one, or since the beginning."""

    def __init__(self, tell: Tell) -> None:
        self._tell, self._told = tell, time.monotonic()

    def __call__(self, text: Callable[[], str]) -> None:
        now = time.monotonic()
        if now - self._told >= 1:
            self._told = now
            self._tell(text())
