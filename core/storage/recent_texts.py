"""Programs and outputs of the nodes that were committed or asked for last: prompts tell the same few again."""

from __future__ import annotations

import threading
from collections import OrderedDict

_NODES = 256
_CHARACTERS = 1_000_000
"""Of all texts together. What is larger by itself is read anew each time."""


class RecentTexts:
    """(program, output) by node id, the one that nobody asked for longest leaves first. Thread-safe."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, tuple[str, str]] = OrderedDict()
        self._characters = 0
        self._lock = threading.Lock()

    def find(self, node_id: str) -> tuple[str, str] | None:
        with self._lock:
            found = self._texts.get(node_id)
            if found is not None:
                self._texts.move_to_end(node_id)
            return found

    def keep(self, node_id: str, code: str, output: str) -> None:
        """A node is committed once, so that what is here already is the same."""
        size = len(code) + len(output)
        with self._lock:
            if node_id in self._texts or size > _CHARACTERS:
                return
            self._texts[node_id] = code, output
            self._characters += size
            while len(self._texts) > _NODES or self._characters > _CHARACTERS:
                _, gone = self._texts.popitem(last=False)
                self._characters -= sum(map(len, gone))
