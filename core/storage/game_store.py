"""GameStore: the finished games of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.events import Event, GameFinished
from core.storage.event_writer import EventWriter
from core.storage.forms import insert


class GameStore(EventWriter):
    """Implements `GameBook`."""

    def get(self, key: str) -> dict[str, Any] | None:
        if key not in self._known.games:
            return None
        found: dict[str, Any] | None = self.db.value("SELECT game FROM games WHERE key = ?", (key,))
        return found

    def put(self, key: str, game: dict[str, Any], events: Sequence[Event]) -> None:
        """Store a finished game with its events. `game` has at least white, black, result; generation where known."""

        self._known.games.add(key)

        def facts() -> None:
            names = ("white", "black", "result")
            row = {**{name: game[name] for name in names}, "generation": game.get("generation")}
            place = next((n for n, event in enumerate(events, 1) if isinstance(event, GameFinished)), len(events))
            with self.db.transaction() as connection:
                row |= {"key": key, "seq": self._seq + place, "game": game}
                insert(connection, "games", [row], "ON CONFLICT DO NOTHING")

        self._write("game", facts, events)

    def all(self) -> list[dict[str, Any]]:
        return [row["game"] for row in self.db.rows("SELECT game FROM games ORDER BY seq")]
