"""Games as text that other programs read.

Source: PGN standard (Edwards 1994); clocks and scores as `[%clk]`, `[%emt]` and `[%eval]` comments.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from core.arena.limit import MoveLimit
from core.arena.openings import opening_parts
from core.arena.player import WON
from core.arena.referee import GameRecord
from core.contracts import Game

MOST_PLIES_TO_WIN = 1000
_TERMINATIONS = {
    "illegal_move": "rules infraction",
    "time_forfeit": "time forfeit",
    "crash": "abandoned",
    "adjudication": "adjudication",
    "length": "adjudication",
}


_TAG = re.compile(r'^\[(\w+) "(.*)"\]$', re.MULTILINE)


def to_pgn(game: Game, record: GameRecord, opening: Sequence[str], tags: Mapping[str, str]) -> str:
    """One game in PGN: the opening's moves stand in the movetext, so it reads from the game's start position, or from
    the one that its opening begins from (`FEN`).

    Args:
        tags: White and Black at least; they come before ours. Values may be untrusted: they are escaped.
    """
    named = game.opening_name([*opening, *(made.uci for made in record.moves)])
    start, given = opening_parts(opening)
    ours = {
        "Result": record.result,
        "PlyCount": str(len(given) + len(record.moves)),
        "Termination": _TERMINATIONS.get(record.termination, "normal"),
    }
    if named is not None:
        ours["ECO"], ours["Opening"] = named
    if game.name != "chess":
        ours["Variant"] = game.name
    if start is not None:
        ours |= {"SetUp": "1", "FEN": start}
    head = _roster(tags) | dict(tags) | ours
    lines = [f'[{name} "{_escape(value)}"]' for name, value in head.items()]
    lines.append("")
    lines += textwrap.wrap(_movetext(game, record, opening), 80, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def with_elo(pgn: str, white: float | None, black: float | None) -> str:
    """The game with its players' ratings, which are known only after it; the starting champion's is 0."""
    head, gap, moves = pgn.partition("\n\n")
    elos = (("WhiteElo", white), ("BlackElo", black))
    return "\n".join([head, *(f'[{name} "{round(elo)}"]' for name, elo in elos if elo is not None)]) + gap + moves


def with_names(pgn: str, white: str, black: str) -> str:
    """The game under these names: of two players with one program each game is played once."""
    head, gap, moves = pgn.partition("\n\n")
    names = {"White": _escape(white), "Black": _escape(black)}
    renamed = _TAG.sub(lambda tag: f'[{tag[1]} "{names.get(tag[1], tag[2])}"]', head)
    return renamed + gap + moves


def opening_of(pgn: str) -> str | None:
    """ECO code and name of the opening, as `to_pgn` wrote them."""
    tags = dict(_TAG.findall(pgn.partition("\n\n")[0]))
    return f"{tags['ECO']} {tags['Opening']}" if {"ECO", "Opening"} <= tags.keys() else None


def time_control(limit: MoveLimit) -> str:
    """PGN's TimeControl: `base+increment` in seconds for clocks, one move in so many seconds, `-` for none."""
    if limit.kind == "clock":
        return f"{limit.value / 1000:g}+{limit.increment / 1000:g}"
    return f"1/{limit.value / 1000:g}" if limit.kind == "movetime" else "-"


def _roster(tags: Mapping[str, str]) -> dict[str, str]:
    """The seven tags every PGN has, in their order."""
    defaults = {"Event": "Swarm-Evo", "Site": "?", "Date": "????.??.??", "Round": "?", "White": "?", "Black": "?"}
    return {name: tags.get(name, value) for name, value in defaults.items()} | {"Result": "*"}


def _movetext(game: Game, record: GameRecord, opening: Sequence[str]) -> str:
    _, given = opening_parts(opening)
    state: Any = game.initial(opening[: len(opening) - len(given)])
    first = game.to_move(state)
    words: list[str] = []
    for ply, move in enumerate([*given, *(made.uci for made in record.moves)]):
        side = game.to_move(state)
        half = first + ply
        if half % 2 == 0 or ply == 0:
            words.append(f"{half // 2 + 1}.{'..' if half % 2 else ''}")
        words.append(game.san(state, move))
        state = game.apply(state, move)
        if ply >= len(given):
            words.append(_comment(record, ply - len(given), side))
    if record.message:
        words.append("{" + _plain(f"{record.termination}: {record.message}") + "}")
    else:
        words.append("{" + record.termination + "}")
    words.append(record.result)
    return " ".join(words)


def _comment(record: GameRecord, index: int, side: int) -> str:
    """`[%eval …,depth]` in pawns from white's view, where the engine told it; the clock; the time taken."""
    made = record.moves[index]
    left = made.clock[side]
    depth = f",{made.depth}" if made.depth is not None else ""
    told = f"[%eval {_pawns(made.score)}{depth}] " if made.score is not None else ""
    clock = f"[%clk {_hours(left)}] " if left is not None else ""
    return f"{{{told}{clock}[%emt {_hours(made.seconds)}]}}"


def eval_text(score: float | None, depth: int | None, side: int) -> str:
    """`{+0.12/8}` behind a move: what the engine that made it thought of its own position, and how many plies it saw;
    '' where it told no score.

    Args:
        score: from the first player's view, as in `PlayedMove`.
    """
    if score is None:
        return ""
    told = _pawns(-score if side else score)
    sign = "" if told.startswith(("-", "#")) else "+"
    return "{" + sign + told + (f"/{depth}" if depth is not None else "") + "}"


def _pawns(score: float) -> str:
    """Hundredths as pawns; a forced win as `#moves`."""
    plies = WON - abs(score)
    if plies > MOST_PLIES_TO_WIN:
        return f"{score / 100:.2f}"
    return f"#{'-' if score < 0 else ''}{max(0, round(plies) + 1) // 2}"


def _hours(seconds: float) -> str:
    minutes, rest = divmod(round(1000 * max(seconds, 0.0)), 60_000)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest / 1000:06.3f}"


def _escape(value: str) -> str:
    printable = "".join(c if c.isprintable() else " " for c in value)[:200]
    return printable.replace("\\", "\\\\").replace('"', '\\"')


def _plain(text: str) -> str:
    """Fit for a brace comment, which cannot hold a closing brace."""
    return "".join(c if c.isprintable() and c not in "{}" else " " for c in text)[:200]
