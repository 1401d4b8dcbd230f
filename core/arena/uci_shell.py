"""The loop that makes an exported engine speak UCI. It stands in the exported file and imports nothing of ours.

Source: UCI protocol (Huber and Meyer-Kahlen, 2006). Games other than chess speak it with their own moves.
"""

import copy
import sys
from collections.abc import Iterable
from typing import Any, TextIO

DEFAULT_MS = 1000
"""Milliseconds for a `go` without any limit."""


def words_after(words: list[str], name: str) -> int | None:
    """The whole number that follows `name` in a command, or None."""
    if name in words[:-1]:
        text = words[words.index(name) + 1]
        return int(text) if text.removeprefix("-").isdecimal() else None
    return None


def position_of(words: list[str], position_class: Any) -> Any:
    """The position of `position startpos|fen … moves …`."""
    split = words.index("moves") if "moves" in words else len(words)
    head, moves = words[1:split], words[split + 1 :]
    if head[:1] == ["fen"] and hasattr(position_class, "from_fen"):
        position = position_class.from_fen(" ".join(head[1:]))
    else:
        position = position_class()
    for move in moves:
        position = position.apply(move)
    return position


def limit_of(words: list[str], to_move: int, limit_class: Any) -> tuple[Any, int]:
    """(limit, milliseconds) of a `go` command."""
    nodes, depth = words_after(words, "nodes"), words_after(words, "depth")
    move_time = words_after(words, "movetime")
    clock = words_after(words, "btime" if to_move else "wtime")
    if nodes or depth:
        return limit_class(nodes=nodes, depth=depth), clock or 10_000
    if clock is not None and move_time is None:
        return limit_class(), max(1, clock)
    milliseconds = move_time or DEFAULT_MS
    return limit_class(milliseconds=milliseconds), milliseconds


def copied(engine: Any) -> Any:
    """A copy that knows nothing of later games, or the engine itself if it cannot be copied."""
    try:
        return copy.deepcopy(engine)
    except Exception:  # noqa: BLE001 - an engine may hold anything, and say anything when it is copied
        return engine


def serve(
    engine: Any,
    position_class: Any,
    limit_class: Any,
    stdin: Iterable[str] = sys.stdin,
    stdout: TextIO = sys.stdout,
) -> None:
    """Answer UCI commands until `quit` or the end of the input.

    `ucinewgame` brings the engine back as it was loaded: it was written for one game in one process.
    """

    def say(text: str) -> None:
        stdout.write(text + "\n")
        stdout.flush()

    fresh = copied(engine)
    position = position_class()
    for line in stdin:
        words = line.split()
        command = words[0] if words else ""
        if command == "uci":
            say(f"id name {' '.join(str(getattr(engine, 'name', 'engine')).split())}")
            say("id author Swarm-Evo")
            say("uciok")
        elif command == "isready":
            say("readyok")
        elif command == "ucinewgame":
            engine = copied(fresh)
            position = position_class()
        elif command == "position":
            position = position_of(words, position_class)
        elif command == "go":
            position.limit, milliseconds = limit_of(words, position.to_move, limit_class)
            move = engine.select_move(position, milliseconds)
            score = getattr(engine, "score", None)
            if isinstance(score, (int, float)):
                say(f"info depth 1 score cp {int(score)}")
            say(f"bestmove {move}")
        elif command == "quit":
            break
