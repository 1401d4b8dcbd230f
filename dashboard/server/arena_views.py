"""Views of the arena: engines, games, one game move by move, its PGN. Read from the events of the games."""

from __future__ import annotations

import bisect
import json
from typing import Any

from core.arena.openings import opening_parts
from core.arena.pgn import opening_of, with_elo
from core.arena.standings import newest_elo
from core.storage.reader import RunReader
from core.storage.unreadable import reads_store
from dashboard.server.opening_line import opening_line
from dashboard.server.schemas.arena import Engine, GameDetail, GamePage, GameRow, Move
from dashboard.server.search_views import events_of

_OF_GAME = (
    "SELECT seq, body FROM events WHERE type = ? AND json_extract(body, '$.game_id') = ? ORDER BY seq DESC LIMIT 1"
)
_MOVES = (
    "SELECT body FROM events WHERE type = 'game.move' AND seq BETWEEN ? AND ?"
    " AND json_extract(body, '$.game_id') = ? ORDER BY seq"
)
_GENERATION_AT = (
    "SELECT type, json_extract(body, '$.generation') FROM events WHERE type IN ('generation.started',"
    " 'generation.finished') AND seq < ? ORDER BY seq DESC LIMIT 1"
)


@reads_store
def game_page(reader: RunReader, *, offset: int, limit: int, engine: str | None, generation: int | None) -> GamePage:
    """Games in the order they started, newest first."""
    with reader.db.transaction():
        bounds = [*events_of(reader, "generation.started"), *events_of(reader, "generation.finished")]
        started = events_of(reader, "game.started")
        finished = {event["game_id"]: event for event in events_of(reader, "game.finished")}
    told = {event["game_id"] for event in started}
    # a store may hold results without the moves that led there: they are games all the same
    started += [event for game_id, event in finished.items() if game_id not in told]
    bounds.sort(key=lambda event: event["seq"])
    rows = [_row(event, finished.get(event["game_id"]), _generation(bounds, event["seq"])) for event in started]
    chosen = [
        row
        for row in rows
        if (engine is None or engine in (row.white, row.black)) and (generation is None or row.generation == generation)
    ]
    chosen.reverse()
    return GamePage(total=len(chosen), games=chosen[offset : offset + limit])


@reads_store
def game_detail(reader: RunReader, game_id: str) -> GameDetail | None:
    with reader.db.transaction():
        first, last = _told(reader, "game.started", game_id), _told(reader, "game.finished", game_id)
        if first is None and last is None:
            return None
        span = (first[0] if first else 0, last[0] if last else 2**62)
        moves = [json.loads(body) for (body,) in reader.db.select(_MOVES, (*span, game_id))]
        bound = reader.db.select(_GENERATION_AT, ((first or last)[0],))  # type: ignore[index]
    started = json.loads(first[1]) if first else json.loads(last[1])  # type: ignore[index]
    row = _row(started, json.loads(last[1]) if last else None, _within(*bound[0]) if bound else 0)
    names = Move.model_fields.keys()
    given = started.get("opening", [])
    origin, opening = opening_line(row.game, given)
    named = opening_of(json.loads(last[1]).get("pgn", "")) if last else None
    return GameDetail(
        **{**row.model_dump(), "plies": max(row.plies, len(moves))},
        origin=origin,
        start=started.get("start", ""),
        opening=opening,
        opening_name=named or ("a position of the book" if opening_parts(given)[0] else None),
        moves=[Move(**{name: move[name] for name in names & move.keys()}) for move in moves],
    )


@reads_store
def pgn(reader: RunReader, game_id: str) -> str | None:
    """The game with the newest ratings of its players, or None where it is not known or not over."""
    with reader.db.transaction():
        last = _told(reader, "game.finished", game_id)
        ratings = events_of(reader, "generation.finished")
    told = json.loads(last[1]) if last else {}
    if not told.get("pgn"):
        return None
    elo = newest_elo(event.get("ratings", []) for event in ratings)
    return with_elo(told["pgn"], elo.get(told["white"]), elo.get(told["black"]))


@reads_store
def engines(reader: RunReader) -> list[Engine]:
    """Every engine that was rated, best first, with its newest rating and the generations it led."""
    with reader.db.transaction():
        finished = events_of(reader, "generation.finished")
        started = events_of(reader, "generation.started")
        names = {event["node_id"]: event.get("name", "") for event in events_of(reader, "builder.completed")}
    newest: dict[str, dict[str, Any]] = {}
    for event in finished:
        for rating in event.get("ratings", []):
            if isinstance(rating.get("node_id"), str):
                newest[rating["node_id"]] = rating
    led: dict[str, list[int]] = {}
    for event in started:
        led.setdefault(event.get("champion") or "", []).append(event["generation"])
    nodes = {node.id: node for node in reader.nodes()}
    found = [
        Engine(
            node_id=node_id,
            name=str(rating.get("name") or names.get(node_id) or node_id),
            generation=nodes[node_id].generation if node_id in nodes else None,
            elo=_number(rating.get("elo")),
            low=_number(rating.get("low")),
            high=_number(rating.get("high")),
            wins=int(rating.get("wins") or 0),
            draws=int(rating.get("draws") or 0),
            losses=int(rating.get("losses") or 0),
            parent_id=nodes[node_id].parent_id if node_id in nodes else None,
            champion_in=led.get(node_id, []),
        )
        for node_id, rating in newest.items()
    ]
    return sorted(found, key=lambda engine: -(engine.elo if engine.elo is not None else -1e9))


def _told(reader: RunReader, kind: str, game_id: str) -> tuple[int, str] | None:
    """(`seq`, JSON) of the newest event of that type that tells of the game."""
    return next(iter(reader.db.select(_OF_GAME, (kind, game_id))), None)


def _row(started: dict[str, Any], finished: dict[str, Any] | None, generation: int | None) -> GameRow:
    end = finished or {}
    return GameRow(
        game_id=started["game_id"],
        game=started["game"],
        white=started["white"],
        black=started["black"],
        result=end.get("result"),
        termination=end.get("termination"),
        plies=end.get("plies", 0),
        generation=generation,
    )


def _generation(bounds: list[dict[str, Any]], seq: int) -> int | None:
    """The generation that a game of that `seq` belongs to, as the page has it; 0 rated the starting engines.

    Args:
        bounds: events of generations that began and ended, in order.
    """
    place = bisect.bisect_left(bounds, seq, key=lambda event: event["seq"])
    return _within(bounds[place - 1]["type"], bounds[place - 1]["generation"]) if place else 0


def _within(kind: str, generation: int) -> int | None:
    """The generation that goes on after that event; None where it has ended: the final part is played."""
    return generation if kind == "generation.started" else None


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
