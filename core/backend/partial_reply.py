"""What a model has said so far of a reply that is still being written: to be looked at, never to be used or stored."""

from __future__ import annotations

import time
from collections.abc import Callable

from core.backend.masking import mask, secrets_of
from core.backend.settings import ModelSettings
from utils.clean_text import clean

Listener = Callable[[str, str | None], None]
"""(node id, more of its open reply; None: a try begins, and what was heard of the one before is void)."""
PAUSE = 0.1
"""Seconds between two tellings, at least."""


class PartialReply:
    """Tells on the pieces of one try, cleaned and without secrets.

    As much as the longest secret is held back, so that none is told in two halves.
    """

    def __init__(
        self,
        listener: Listener,
        node_id: str,
        settings: ModelSettings,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._listener = listener
        self._node_id = node_id
        self._settings = settings
        self._clock = clock
        self._waiting = ""
        self._told = clock()
        listener(node_id, None)

    def add(self, piece: str) -> None:
        self._waiting += piece
        now = self._clock()
        if now - self._told < PAUSE:
            return
        held = max(map(len, secrets_of(self._settings)), default=1) - 1
        self._told = now
        text = mask(self._waiting, self._settings)
        end = max(0, len(text) - held)
        self._waiting = text[end:]
        if end:
            self._listener(self._node_id, clean(text[:end]))
