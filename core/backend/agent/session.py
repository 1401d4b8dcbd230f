"""One process of an agent: started, watched by its limits, ended with all its children, its last words kept."""

from __future__ import annotations

import re
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from core.backend.backend_command import SHORT, kill_group
from core.backend.deadline import Deadline
from core.contracts import WRITER_DISK_MB
from utils.folder_size import Disk, holds_more
from utils.patience import Patience

_LATE = 3.0
"""Seconds that an agent has to end by itself, once a limit of its session is reached."""
_LOOK = 0.05
_WEIGH = 1.0
"""Seconds between two looks at how much its folder holds."""
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_CALLS_ITSELF_ONE = re.compile(r"^\W*(?:(?:\w+ )?\w*error\b|unknown (?:argument|option|command))", re.IGNORECASE)
"""A line `Error: …`, `error: …`, `TypeError: …`, `API Error …`, `Unknown arguments: …`."""
_KEPT = 64 * 1024
"""Bytes of its last words."""


class AgentProcess:
    """Use as a context manager: whatever happens, nobody of its group lives on.

    Args:
        descriptors: that it inherits.
    """

    def __init__(
        self, line: Sequence[str], folder: Path, environment: Mapping[str, str], descriptors: Sequence[int] = ()
    ) -> None:
        self._child = subprocess.Popen(
            list(line), cwd=folder, env=dict(environment), start_new_session=True, pass_fds=tuple(descriptors),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self._folder, self._disk = folder, Disk(folder)
        self._said: list[bytearray] = [bytearray(), bytearray()]
        streams = (self._child.stdout, self._child.stderr)
        self._readers = [
            threading.Thread(target=_keep_tail, args=pair, daemon=True, name="agent-output")
            for pair in zip(streams, self._said, strict=True)
        ]
        try:
            for reader in self._readers:
                reader.start()
        except BaseException:  # no room for a thread: nobody would hear or end it
            with self._child:  # which closes its pipes
                kill_group(self._child)
            raise

    def __enter__(self) -> AgentProcess:
        return self

    def __exit__(self, *_: object) -> None:
        kill_group(self._child)
        self._child.wait()
        for reader in self._readers:
            reader.join(2)

    @property
    def code(self) -> int | None:
        """Its exit code; None while it lives."""
        return self._child.poll()

    def wait(self, deadline: Deadline, seconds: float, over: Callable[[], bool], disk_mb: int = WRITER_DISK_MB) -> str:
        """Until it ends: '' if by itself, else which limit ended it.

        Args:
            over: True once a limit of the session is reached; it then has a moment to end by itself.
            disk_mb: what its folder may hold.
        """
        patience, late, weighed = Patience(seconds), None, time.monotonic()
        while self._child.poll() is None:
            now = time.monotonic()
            late = late or (now + _LATE if over() else None)
            if deadline.cut:
                return "it was stopped"
            if patience.left <= 0:
                return f"it did not end within {seconds:g} s (llm.code.timeout)"
            if late is not None and now > late:
                return "a limit of its session was reached"
            if self._disk.is_short:
                return SHORT
            if now - weighed > _WEIGH:
                if holds_more(self._folder, disk_mb):
                    return f"its folder held more than {disk_mb:,} MB"
                weighed = time.monotonic()
            patience.look(lambda seconds: time.sleep(min(seconds, _LOOK)))
        return ""

    def last_words(self) -> str:
        """The end of what it printed; of its errors, where it printed nothing."""
        out, err = self._texts()
        return out or err

    def complaint(self) -> str:
        """Its errors from the last line on that calls itself one, else their last line; where there are none, of what
        it printed. What is wrong stands first, and advice or a trace of calls below it."""
        out, err = self._texts()
        lines = _COLOUR.sub("", err or out).splitlines() or [""]
        begins = [number for number, line in enumerate(lines) if _CALLS_ITSELF_ONE.search(line)]
        if not begins and "Options:" in lines:
            return f"it does not know an option of its command, and prints how it is used: {lines[0]}"
        return "\n".join(lines[begins[-1] if begins else -1 :]).strip()

    def _texts(self) -> list[str]:
        return [bytes(part).decode("utf-8", "replace").strip() for part in self._said]


def _keep_tail(stream: IO[bytes], kept: bytearray) -> None:
    with stream:
        while piece := stream.read1(65536):  # type: ignore[attr-defined]
            kept += piece
            del kept[:-_KEPT]
