"""From the configuration's `arena` section to the arena's settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.arena.limit import MoveLimit
from core.arena.referee import Adjudication
from core.arena.spec import ArenaSettings
from core.contracts import Baseline
from utils.errors import ConfigError


def settings_of(section: Any) -> ArenaSettings:
    """Read the `arena` section; ConfigError for a value that the arena cannot play by."""
    if section.games % 2:
        raise ConfigError(f"arena.games={section.games}: allowed are even numbers, half of the games with each colour")
    return ArenaSettings(
        limit=MoveLimit.parse(section.limit),
        promotion=section.promotion,
        openings=section.openings,
        games=section.games,
        gauntlet=section.gauntlet,
        deadline=section.deadline,
        adjudication=Adjudication(draw=section.draw_adjudication, resign=section.resign_adjudication),
    )


def read_engine(folder: Path, name: str, file: str) -> Baseline:
    """A reference engine from the problem's folder."""
    return Baseline(name, (folder / f"{file}.py").read_text(encoding="utf-8"))
