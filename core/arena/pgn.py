"""Games as text that other programs read.

Source: PGN standard (Edwards 1994); clocks as `[%clk]` and `[%emt]` comments.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from core.arena.limit import MoveLimit
from core.arena.referee import GameRecord
from core.contracts import Game

_TERMINATIONS = {
    "illegal_move": "rules infraction",
    "time_forfeit": "time forfeit",
    "crash": "abandoned",
    "adjudication": "adjudication",
    "length": "adjudication",
}


def to_pgn(game: Game, record: GameRecord, opening: Sequence[str], tags: Mapping[str, str]) -> str:
    """One game in PGN: the opening's moves stand in the movetext, so it reads from the game's start position.

    Args:
        tags: White and Black at least; they come before ours. Values may be untrusted: they are escaped.
    """
    ours = {
        "Result": record.result,
        "PlyCount": str(len(opening) + len(record.moves)),
        "Termination": _TERMINATIONS.get(record.termination, "normal"),
    }
    if game.name != "chess":
        ours["Variant"] = game.name
    head = _roster(tags) | dict(tags) | ours
    lines = [f'[{name} "{_escape(value)}"]' for name, value in head.items()]
    lines.append("")
    lines += textwrap.wrap(_movetext(game, record, opening), 80, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def time_control(limit: MoveLimit) -> str:
    """PGN's TimeControl: `base+increment` in seconds for clocks, `-` with a word for the rest."""
    if limit.kind == "clock":
        return f"{limit.value / 1000:g}+{limit.increment / 1000:g}"
    return f"*{limit.value / 1000:g}" if limit.kind == "movetime" else "-"


def _roster(tags: Mapping[str, str]) -> dict[str, str]:
    """The seven tags every PGN has, in their order."""
    defaults = {"Event": "Swarm-Evo", "Site": "?", "Date": "????.??.??", "Round": "?", "White": "?", "Black": "?"}
    return {name: tags.get(name, value) for name, value in defaults.items()} | {"Result": "*"}


def _movetext(game: Game, record: GameRecord, opening: Sequence[str]) -> str:
    state: Any = game.initial()
    words: list[str] = []
    for ply, move in enumerate([*opening, *(made.uci for made in record.moves)]):
        if ply % 2 == 0:
            words.append(f"{ply // 2 + 1}.")
        words.append(game.san(state, move))
        state = game.apply(state, move)
        if ply >= len(opening):
            words.append(_comment(record, ply - len(opening), ply % 2))
    if record.message:
        words.append("{" + _plain(f"{record.termination}: {record.message}") + "}")
    else:
        words.append("{" + record.termination + "}")
    words.append(record.result)
    return " ".join(words)


def _comment(record: GameRecord, index: int, side: int) -> str:
    made = record.moves[index]
    left = made.clock[side]
    clock = f"[%clk {_hours(left)}] " if left is not None else ""
    return f"{{{clock}[%emt {_hours(made.seconds)}]}}"


def _hours(seconds: float) -> str:
    whole, rest = divmod(max(seconds, 0.0), 60)
    return f"{int(whole) // 60}:{int(whole) % 60:02d}:{rest:06.3f}"


def _escape(value: str) -> str:
    printable = "".join(c if c.isprintable() else " " for c in value)[:200]
    return printable.replace("\\", "\\\\").replace('"', '\\"')


def _plain(text: str) -> str:
    """Fit for a brace comment, which cannot hold a closing brace."""
    return "".join(c if c.isprintable() and c not in "{}" else " " for c in text)[:200]
