from __future__ import annotations

import re

import pytest

from core.arena.limit import MoveLimit
from core.arena.pgn import _hours, opening_of, time_control, to_pgn, with_elo
from core.arena.referee import GameRecord, PlayedMove
from core.state.failure import FailureKind
from problems.chess_engines.game import Chess
from problems.connect_four.game import ConnectFour


def record(game, opening, line, **fields):
    state, moves = game.initial(opening), []
    for ply, move in enumerate(line, start=1):
        san = game.san(state, move)
        state = game.apply(state, move)
        moves.append(PlayedMove(ply=ply, uci=move, san=san, fen=game.text(state), clock=(59.5, 3725.0), seconds=0.25))
    usual = {"result": "1-0", "termination": "checkmate", "start": game.text(game.initial(opening))}
    return GameRecord(moves=tuple(moves), **{**usual, **fields})


def tags_and_moves(pgn: str) -> tuple[dict[str, str], list[str]]:
    tags = dict(re.findall(r'^\[(\w+) "(.*)"\]$', pgn, re.MULTILINE))
    text = re.sub(r"\{[^}]*\}", " ", pgn.partition("\n\n")[2])
    return tags, [word for word in text.split() if not re.fullmatch(r"\d+\.+", word)]


def test_scholars_mate_from_an_opening():
    made = record(Chess(), ("e2e4", "e7e5"), ("d1h5", "b8c6", "f1c4", "g8f6", "h5f7"))
    pgn = to_pgn(Chess(), made, ("e2e4", "e7e5"), {"White": "A", "Black": "B", "Round": "3", "TimeControl": "60+1"})
    tags, moves = tags_and_moves(pgn)
    assert moves == ["e4", "e5", "Qh5", "Nc6", "Bc4", "Nf6", "Qxf7#", "1-0"]
    assert list(tags)[:7] == ["Event", "Site", "Date", "Round", "White", "Black", "Result"]
    assert (tags["PlyCount"], tags["Termination"], tags["TimeControl"], tags["Round"]) == ("7", "normal", "60+1", "3")
    assert "Variant" not in tags and "[%clk 0:00:59.500]" in pgn and "[%clk 1:02:05.000]" in pgn
    assert "[%emt 0:00:00.250]" in pgn and all(len(line) <= 80 for line in pgn.splitlines())


@pytest.mark.parametrize(
    ("termination", "tag"),
    [("time_forfeit", "time forfeit"), ("illegal_move", "rules infraction"), ("crash", "abandoned")],
)
def test_forfeits_are_tagged_and_explained(termination, tag):
    made = record(ConnectFour(), (), ("4",), termination=termination, message="why } not", failure=FailureKind.EXIT)
    tags, moves = tags_and_moves(to_pgn(ConnectFour(), made, (), {"White": "A", "Black": "B"}))
    assert tags["Termination"] == tag and tags["Variant"] == "connect_four" and moves == ["4", "1-0"]


def test_the_opening_is_named_and_ratings_are_added():
    made = record(Chess(), ("e2e4", "e7e5"), ("g1f3", "b8c6", "f1b5", "a7a6"), result="1/2-1/2", termination="length")
    pgn = to_pgn(Chess(), made, ("e2e4", "e7e5"), {"White": "A", "Black": "B", "Date": "2026.11.22"})
    tags, _ = tags_and_moves(with_elo(pgn, 12.4, -7.6))
    assert (tags["ECO"], tags["Opening"]) == ("C70", "Ruy Lopez: Morphy Defense") and tags["Date"] == "2026.11.22"
    assert (tags["WhiteElo"], tags["BlackElo"]) == ("12", "-8")
    assert opening_of(pgn) == "C70 Ruy Lopez: Morphy Defense" and with_elo(pgn, None, None) == pgn
    assert opening_of(to_pgn(ConnectFour(), record(ConnectFour(), (), ("4",)), (), {})) is None


def test_a_transposition_has_the_name_of_its_position():
    game = Chess()
    assert game.opening_name(("g1f3", "d7d5", "d2d4")) == game.opening_name(("d2d4", "d7d5", "g1f3"))
    assert game.opening_name(()) is None


def test_what_engines_said_stands_beside_their_moves():
    made = record(Chess(), (), ("e2e4", "e7e5", "g1f3"))
    scores = [(35.0, 4), (-99_994.0, 7), (None, None)]
    told = [m.model_copy(update={"score": s, "depth": d}) for m, (s, d) in zip(made.moves, scores, strict=True)]
    pgn = to_pgn(Chess(), made.model_copy(update={"moves": tuple(told)}), (), {"White": "A", "Black": "B"})
    assert "[%eval 0.35,4]" in pgn and "[%eval #-3,7]" in pgn and pgn.count("%eval") == 2


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "0:00:00.000"), (59.9994, "0:00:59.999"), (59.9996, "0:01:00.000"), (3599.9999, "1:00:00.000"),
     (3661.5, "1:01:01.500"), (-0.2, "0:00:00.000")],
)  # fmt: skip
def test_a_clock_has_no_sixtieth_second(seconds, text):
    assert _hours(seconds) == text


def test_names_cannot_break_out_of_their_tag():
    pgn = to_pgn(ConnectFour(), record(ConnectFour(), (), ()), (), {"White": 'a"]\n[Result "0-1', "Black": "b\\"})
    lines = pgn.splitlines()
    assert lines[4] == '[White "a\\"] [Result \\"0-1"]' and lines[5] == '[Black "b\\\\"]'
    assert sum(line.startswith("[Result") for line in lines) == 1


@pytest.mark.parametrize(
    ("limit", "text"), [("clock:60000+600", "60+0.6"), ("movetime:100", "1/0.1"), ("nodes:5", "-"), ("depth:3", "-")]
)
def test_time_control(limit, text):
    assert time_control(MoveLimit.parse(limit)) == text
