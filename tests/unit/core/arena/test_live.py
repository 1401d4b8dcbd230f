"""Moves told while a game goes on, each once, also when the game is begun again."""

from __future__ import annotations

import errno
import json
import time
from pathlib import Path

import pytest
from arena_support import FIRST, LAST, InProcessSandbox, RecordingBook, engine, four_spec

from core.arena.live import LiveMoves
from core.arena.match import Engine, Match, play_match
from utils.errors import LockedStoreError

SPEC = four_spec()


def match(white=FIRST, **changes):
    engines = {"white": Engine(id="w", code=white), "black": Engine(id="b", code=LAST)}
    return Match(game=SPEC.entry, prelude=SPEC.prelude, limit="depth:1", **{**engines, **changes})


@pytest.fixture
def book():
    return RecordingBook()


def until(condition, seconds=60.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it did not come")


def write(spool, *lines):
    with open(spool, "a", encoding="utf-8") as file:
        file.writelines(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines)


def moves_of(record):
    return [move.model_dump(mode="json") for move in record.moves]


def test_moves_are_told_while_the_game_goes_on_and_the_rest_at_its_end(tmp_path, book):
    record = play_match(match(), InProcessSandbox())
    told = moves_of(record)
    with LiveMoves(tmp_path / "live", book.append, session=0) as live:
        spool = live.open("k", match(), SPEC.game)
        write(spool, {"attempt": 1}, *told[:2], json.dumps(told[2])[:20])  # the third line is still being written
        until(lambda: len(book.of("game.move")) == 2)
        assert [event.type for event in book.events] == ["game.started", "game.move", "game.move"]
        game_id, rest = live.close("k", record)
    assert [event.ply for event in rest] == [3, 4, 5, 6, 7] and game_id == "k"
    assert not list((tmp_path / "live").iterdir())


def test_moves_that_the_store_did_not_take_at_once_are_told_later_in_order(tmp_path, book):
    """Another process kept the store locked: the thread that carries them ended, and they were in no event."""
    record, refused = play_match(match(), InProcessSandbox()), []

    def append(events):
        if not refused:
            refused.extend(events)
            raise LockedStoreError("locked")
        raise AssertionError("not before the game is over")

    with LiveMoves(tmp_path / "live", append, session=0) as live:
        write(live.open("k", match(), SPEC.game), {"attempt": 1}, *moves_of(record)[:2])
        until(lambda: refused)
        _, rest = live.close("k", record)
    assert [event.type for event in rest] == ["game.started", *["game.move"] * 7]
    assert [event.ply for event in rest[1:]] == list(range(1, 8))


def test_a_spool_that_cannot_be_opened_for_a_moment_is_looked_at_again(tmp_path, book, monkeypatch):
    """Where this process had all the descriptors it may have, the thread that carries the moves ended for good."""
    record, usual, refused = play_match(match(), InProcessSandbox()), Path.open, []

    def opened(path, *arguments, **options):
        if path.suffix == ".jsonl" and not refused:
            refused.append(path)
            raise OSError(errno.EMFILE, "Too many open files")
        return usual(path, *arguments, **options)

    with LiveMoves(tmp_path / "live", book.append, session=0) as live:
        spool = live.open("k", match(), SPEC.game)
        monkeypatch.setattr(Path, "open", opened)
        write(spool, {"attempt": 1}, *moves_of(record)[:2])
        until(lambda: len(book.of("game.move")) == 2)
    assert refused


def test_without_a_shared_folder_all_moves_come_at_the_end(tmp_path, book):
    record = play_match(match(), InProcessSandbox())
    with LiveMoves(tmp_path / "live", book.append, session=2) as live:
        live.open("k", match(), SPEC.game)
        game_id, rest = live.close("k", record)
    assert book.events == [] and game_id == "k.2"
    assert [event.type for event in rest] == ["game.started", *["game.move"] * 7]
    assert {event.game_id for event in rest} == {"k.2"}


def test_a_game_begun_again_is_told_under_a_new_id(tmp_path, book):
    record = play_match(match(), InProcessSandbox(faults=1))
    assert record.tries == 2
    told = moves_of(record)
    with LiveMoves(tmp_path / "live", book.append, session=0) as live:
        spool = live.open("k", match(), SPEC.game)
        write(spool, {"attempt": 1}, *told[:3])
        until(lambda: len(book.of("game.move")) == 3)
        write(spool, {"attempt": 2}, *told[:1])
        until(lambda: len(book.of("game.move")) == 4)
        game_id, rest = live.close("k", record)
    assert game_id == "k~2"
    assert [event.ply for event in [*book.of("game.move"), *rest] if event.game_id == "k~2"] == list(range(1, 8))
    assert [event.game_id for event in book.of("game.started")] == ["k", "k~2"]


def test_a_second_attempt_that_the_watcher_missed_is_told_whole(tmp_path, book):
    record = play_match(match(), InProcessSandbox(faults=1))
    with LiveMoves(tmp_path / "live", book.append, session=0) as live:
        spool = live.open("k", match(), SPEC.game)
        write(spool, {"attempt": 1}, *moves_of(record)[:3])
        until(lambda: len(book.of("game.move")) == 3)
        game_id, rest = live.close("k", record)
    assert game_id == "k~2" and [event.type for event in rest] == ["game.started", *["game.move"] * 7]


def test_a_game_whose_worker_was_lost_is_told_anew_by_the_job_that_takes_its_place(tmp_path, book):
    """It was told with the moves of both jobs in one game: each job counts its own attempts from 1."""
    record = play_match(match(), InProcessSandbox())
    told = moves_of(record)
    with LiveMoves(tmp_path / "live", book.append, session=0) as live:
        spool = live.open("k", match(), SPEC.game)
        write(spool, {"attempt": 1}, *told[:3])
        until(lambda: len(book.of("game.move")) == 3)
        write(spool, {"attempt": 1}, *told[:2])
        until(lambda: len(book.of("game.move")) == 5)
        game_id, rest = live.close("k", record)
    assert game_id == "k~2"
    assert [event.ply for event in [*book.of("game.move"), *rest] if event.game_id == "k~2"] == list(range(1, 8))


def test_the_real_spool_is_what_the_watcher_reads(tmp_path, book):
    slow = engine("import time; time.sleep(0.15)\nreturn position.legal_moves[0]")
    with LiveMoves(tmp_path / "live", book.append, session=0) as live:
        spool = live.open("k", match(slow), SPEC.game)
        record = play_match(match(slow, spool=spool), InProcessSandbox())
        seen = len(book.of("game.move"))
        _game_id, rest = live.close("k", record)
    assert seen >= 1, "nothing was told while the game went on"
    assert [e.ply for e in [*book.of("game.move"), *rest] if e.type == "game.move"] == list(range(1, 8))
