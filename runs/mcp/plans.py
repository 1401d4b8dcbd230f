"""Plans of runs that were described and not started yet: a file each, so that a killed server forgets none of them."""

from __future__ import annotations

import fcntl
import json
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from core.storage.held import lock_holder
from utils.errors import ConfigError

_NAME = re.compile(r"[0-9a-f]{16}")


class Plan:
    """The words of `run`, and what became of them: it was started once there is a log.

    Args:
        folder: where plans lie; made if it is not there.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self._path = folder / f"{name}.json"
        self.ready = folder / f"{name}.run"
        """The run writes its name there as soon as it can be asked."""
        self.log = folder / f"{name}.log"
        """What the run's process says; held by it as long as it lives."""

    @classmethod
    def new(cls, folder: Path, words: Sequence[str]) -> Plan:
        folder.mkdir(parents=True, exist_ok=True)
        plan = cls(folder, secrets.token_hex(8))
        plan._path.write_text(json.dumps({"words": list(words)}), encoding="utf-8")
        return plan

    @classmethod
    def of(cls, folder: Path, name: str) -> Plan:
        """Raises ConfigError for a name that no plan has."""
        plan = cls(folder, name)
        if not _NAME.fullmatch(name) or not plan._path.is_file():
            raise ConfigError(f"confirm={name[:40]}: there is no such plan; call plan_run first")
        return plan

    @property
    def run(self) -> str:
        """The run's name; '' before it can be asked."""
        return self.ready.read_text(encoding="utf-8") if self.ready.is_file() else ""

    @contextmanager
    def held(self) -> Iterator[list[str]]:
        """Its words, while nobody else starts it; an empty list once it was started."""
        with self._path.open("r+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield [] if self.log.is_file() else list(json.load(file)["words"])

    @contextmanager
    def begun(self) -> Iterator[IO[bytes]]:
        """Its log, for the process that starts it; called while it is held."""
        with self.log.open("wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file

    @property
    def is_under_way(self) -> bool:
        """True while its process lives, whichever server started it."""
        return lock_holder(self.log) is not None
