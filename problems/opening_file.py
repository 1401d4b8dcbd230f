"""Files of openings: EPD (positions), PGN (games), or one opening a line as moves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from core.arena.opening_book import BookOpening, OpeningBook
from core.contracts import OTHER_START, Game
from problems.file_numbers import unread
from problems.instance_text import instance_suffix, instance_text
from utils.clean_text import one_line
from utils.errors import ConfigError
from utils.missing_file import may_be_file, no_file
from utils.user_path import user_path

POSITIONS, GAMES, MOVES = (".epd", ".fen"), (".pgn",), (".txt",)
"""Endings of the three forms."""
MOST_OPENINGS = 100_000
"""Of one file: they are all read before the first game."""
_SHOWN = 60
"""Characters of a wrong text that are told."""
_NUMBER = re.compile(r"(?<!\S)\d+\.+")
"""Of a move, as in `1.e4`."""
_PART = re.compile(
    r"""(?P<comment>\{[^}]*\}|;[^\n]*|^%[^\n]*)"""
    r"""|\[\s*(?P<tag>\w+)\s+"(?P<value>(?:\\.|[^"\\\n])*)"\s*\]"""
    r"""|(?P<odd>^\[[^\n]*\])"""
    r"""|(?P<mark>[()]|\$\d+|\d+\.+|\.+|e\.p\.)"""
    r"""|(?P<result>1-0|0-1|1/2-1/2|\*)(?=[\s(){};\[]|\Z)"""
    r"""|(?P<move>[^\s(){}\[\];$]+)|(?P<gap>\s+)|(?P<other>.)""",
    re.MULTILINE,
)
_SAME_GAME = ("standard", "chess", "normal", "from position")
"""What programs call the usual game in the tag Variant."""


@dataclass(slots=True)
class _Told:
    """One opening as a file tells it."""

    line: int
    start: str | None = None
    """A position, as the file has it."""
    moves: list[tuple[int, str]] = field(default_factory=list)
    """(line, text) of each."""
    variant: str = ""


def read_book(file: str, game: Game, plies: int | None) -> OpeningBook:
    """The openings of a file of the user's, each of which is a legal beginning of the game, and not its end.

    Args:
        plies: how many moves of an opening are taken; None: all.

    Raises:
        ConfigError: names the line of the file, and what is wrong there.
    """
    name, path = f"arena.book={file}", user_path(file)
    if not may_be_file(path):
        raise ConfigError(f"{name}: {no_file(path)}")
    suffix = instance_suffix(path)
    if suffix not in (*POSITIONS, *GAMES, *MOVES):
        allowed = f"{', '.join(POSITIONS)} (positions), {GAMES[0]} (games), {MOVES[0]} (moves, one opening a line)"
        raise ConfigError(
            f"{name}: what it holds is told by its ending; allowed: {allowed}, also packed as .gz, .bz2 or .xz"
        )
    try:
        return _book(name, game, _told(path, suffix), plies)
    except (ValueError, OSError) as error:
        raise ConfigError(f"{name}: {unread(error)}") from error


def _told(path: Path, suffix: str) -> Iterator[_Told]:
    if suffix in GAMES:
        return _games(instance_text(path, "replace"))  # names of players in another encoding are no matter
    text = instance_text(path)
    lines = [(number, line) for number, line in enumerate(re.split(r"\r\n?|\n", text), 1) if _said(line)]
    if suffix in POSITIONS:
        return (_Told(number, start=line.strip()) for number, line in lines)
    words = ((number, _NUMBER.sub(" ", line.partition("#")[0]).split()) for number, line in lines)
    return (_Told(number, moves=[(number, word) for word in said]) for number, said in words)


def _said(line: str) -> str:
    """What stands there; '' for an empty line and a remark."""
    bare = line.strip()
    return "" if bare.startswith("#") else bare


def _book(name: str, game: Game, told: Iterator[_Told], plies: int | None) -> OpeningBook:
    found: dict[str, BookOpening] = {}
    repeated = []
    all_told = list(islice(told, MOST_OPENINGS + 1))
    if len(all_told) > MOST_OPENINGS:
        raise ValueError(f"it has more than {MOST_OPENINGS:,} openings: take a part of them, such as its first lines")
    for one in all_told:
        opening = _opening(one, game, plies)
        if opening.text in found:
            repeated.append((opening.line, found[opening.text].line))
        else:
            found[opening.text] = opening
    if not found:
        raise ValueError("it has no opening")
    return OpeningBook(name, game, list(found.values()), repeated)


def _opening(told: _Told, game: Game, plies: int | None) -> BookOpening:
    if told.variant and told.variant.casefold() not in (game.name, *(_SAME_GAME if game.name == "chess" else ())):
        raise ValueError(f"line {told.line}: its Variant is {_shown(told.variant)}, not {game.name}")
    state, line = _start(told, game)
    for number, text in told.moves[:plies]:
        move = _move(game, state, text)
        if move is None:
            position = game.text(state)
            raise ValueError(
                f"line {number}: {_shown(text)} is no legal move of {game.name} in {position}{_legal(game, state)}"
            )
        state = game.apply(state, move)
        line.append(move)
    ended = game.outcome(state)
    if ended is not None:
        cut = "; arena.plies=N takes the first N moves of each" if len(line) > 1 and plies is None else ""
        raise ValueError(f"line {told.line}: the game is over after this opening ({ended[1].replace('_', ' ')}){cut}")
    return BookOpening(told.line, tuple(line), game.text(state))


def _start(told: _Told, game: Game) -> tuple[Any, list[str]]:
    """(the state before the first move, what begins its opening)."""
    if told.start is None:
        return game.initial(), []
    try:
        start = f"{OTHER_START}{game.read_position(told.start)}"
        return game.initial([start]), [start]
    except ValueError as error:
        raise ValueError(
            f"line {told.line}: {_shown(told.start)} is no position of {game.name}: {one_line(str(error))}"
        ) from error


def _move(game: Game, state: Any, text: str) -> str | None:
    return text if text in game.legal(state) else game.read_move(state, text)


def _legal(game: Game, state: Any) -> str:
    """What would have been one, where there are few."""
    legal = game.legal(state)
    return f"; allowed: {', '.join(legal)}" if 0 < len(legal) <= 12 else ""


def _shown(text: str) -> str:
    return repr(one_line(text, _SHOWN))


def _games(text: str) -> Iterator[_Told]:
    """The games of a PGN: their positions (FEN) and the moves of their main lines.

    ValueError: the line where a comment, a tag or a variation is not what it should be.
    """
    game: _Told | None = None
    depth = 0
    for line, part in _parts(text):
        kind = "tag" if part["tag"] or part["odd"] else part.lastgroup
        if kind == "tag" and game is not None and (game.moves or depth):
            yield _whole(game, depth)
            game, depth = None, 0
        if kind == "other":
            why = "a comment begins here that does not end" if part[0] == "{" else "that is no PGN"
            raise ValueError(f"line {line}: {_shown(text[part.start() : part.start() + 20])}: {why}")
        game = game or _Told(line)
        if part["tag"]:
            _note_tag(game, part["tag"], re.sub(r"\\(.)", r"\1", part["value"]))
        elif kind == "result" and not depth:
            yield game
            game = None
        elif part["mark"] in ("(", ")"):
            depth += 1 if part["mark"] == "(" else -1
            if depth < 0:
                raise ValueError(f"line {line}: a variation ends here that has not begun")
        elif kind == "move" and not depth:
            game.moves.append((line, part["move"]))
    if game is not None:
        yield _whole(game, depth)


def _whole(game: _Told, depth: int) -> _Told:
    if depth:
        raise ValueError(f"line {game.line}: a variation of this game does not end")
    return game


def _note_tag(game: _Told, name: str, value: str) -> None:
    if name.casefold() == "fen":
        game.start = value
    if name.casefold() == "variant":
        game.variant = value


def _parts(text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """(line, part) of all but gaps and comments."""
    line = 1
    for part in _PART.finditer(text):
        if part["gap"] is None and part["comment"] is None:
            yield line, part
        line += part[0].count("\n")
