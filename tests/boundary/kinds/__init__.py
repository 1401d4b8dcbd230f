"""The problem kinds: what lies in the owner's folder, what a program of the kind looks like, and what is too good."""

from __future__ import annotations

from tests.boundary.kinds.arena import ARENA
from tests.boundary.kinds.clock import CLOCK
from tests.boundary.kinds.coins import COINS
from tests.boundary.kinds.command import COMMAND
from tests.boundary.kinds.competition import COMPETITION
from tests.boundary.kinds.function import FUNCTION
from tests.boundary.kinds.kind import Kind
from tests.boundary.kinds.objects import OBJECTS
from tests.boundary.kinds.process import PROCESS
from tests.boundary.kinds.script import SCRIPT
from tests.boundary.kinds.writer import WRITER

KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (SCRIPT, OBJECTS, PROCESS, COINS, CLOCK, COMPETITION, FUNCTION, ARENA, COMMAND, WRITER)
}

__all__ = ["KINDS", "Kind"]
