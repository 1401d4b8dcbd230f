"""Where tests kill a run: `SWARM_EVO_FAULT=before:commit:3` ends the process by SIGKILL at its third commit.

The one place that reads the variable. `when` is `before` (nothing of the write is done) or `after` (it is committed,
and nothing of what follows is done); the kind is what RunStore calls the write: `round`, `stage`, `stages`, `commit`,
`hold`, `call`, `game`, `lease`, `tell`, `close`, `check`, `fact:NAME`, `facts`, `end` or `events`.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Mapping

VARIABLE = "SWARM_EVO_FAULT"


class FaultPoint:
    """Counts the writes of one kind and kills at the n-th. Does nothing where the variable is not set."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self._when, self._kind, self._left = "", "", 0
        self._lock = threading.Lock()
        text = environ.get(VARIABLE)
        if text:
            self._when, _, rest = text.partition(":")
            self._kind, _, number = rest.rpartition(":")
            self._left = int(number)

    def before(self, kind: str) -> None:
        """A write of that kind is about to begin."""
        self._pass("before", kind)

    def after(self, kind: str) -> None:
        """A write of that kind is committed."""
        self._pass("after", kind)

    def _pass(self, when: str, kind: str) -> None:
        if when != self._when or kind != self._kind:
            return
        with self._lock:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
