"""A game as a job: engines by their source, faults of ours played again, moves spooled."""

from __future__ import annotations

import json

import pytest
from arena_support import FIRST, LAST, InProcessSandbox, engine, four_spec

from core.arena.match import Engine, Match, play_match
from core.arena.player import _checked
from core.arena.position_game import position_in
from core.state.failure import FailureKind
from utils.errors import JobLost, SandboxError


def match(white, black, **changes):
    spec = four_spec()
    fields = {
        "game": spec.entry,
        "prelude": spec.prelude,
        "white": Engine(id="w", code=white),
        "black": Engine(id="b", code=black),
        "limit": "depth:2",
        **changes,
    }
    return Match(**fields)


def test_first_column_against_last():
    record = play_match(match(FIRST, LAST), InProcessSandbox())
    assert record.result == "1-0" and [m.uci for m in record.moves] == ["1", "7", "1", "7", "1", "7", "1"]
    assert record.output == ("bye", "bye")


@pytest.mark.parametrize(
    ("code", "termination", "failure"),
    [
        (engine("raise ValueError('no')"), "crash", FailureKind.RUNTIME),
        (engine("raise TimeoutError"), "time_forfeit", FailureKind.TIME_FORFEIT),
        (engine("return 'x' * 10_000_000"), "illegal_move", FailureKind.ILLEGAL_MOVE),
        (engine("return None"), "illegal_move", FailureKind.ILLEGAL_MOVE),
        ("engine = None", "crash", FailureKind.RUNTIME),
        ("raise SystemError", "crash", FailureKind.RUNTIME),
    ],
)
@pytest.mark.parametrize("white", [True, False])
def test_a_bad_engine_loses_with_either_colour(code, termination, failure, white):
    record = play_match(match(code, FIRST) if white else match(FIRST, code), InProcessSandbox())
    assert (record.result, record.termination) == ("0-1" if white else "1-0", termination)
    assert (record.failure, record.loser) == (failure, 0 if white else 1)
    assert len(record.message) <= 500


def test_the_engine_reads_limit_position_and_time():
    code = engine(
        "assert position.limit.depth == 2 and position.limit.nodes is None\n"
        "assert time_left_ms == 10_000 and position.fen.endswith(' x')\n"
        "assert len(position.moves) % 2 == 0\n"
        "return position.legal_moves[0]"
    )
    assert play_match(match(code, LAST), InProcessSandbox()).termination == "four_in_a_row"


@pytest.mark.parametrize("number", [10**400, -(10**400), 1e300, float("nan"), float("inf"), True, "x", [1]])
@pytest.mark.parametrize("place", [1, 2])
def test_whatever_an_engine_says_of_its_score_the_game_goes_on(number, place):
    """An engine may put its own object in place of the seat; an integer that is no float broke the run."""
    answer = ["4", 5, 3]
    answer[place] = number
    made = _checked(answer)
    assert made.move == "4" and (made.score is None or abs(made.score) < 1e9)
    assert made.depth is None or 0 <= made.depth <= 1000


def test_a_move_may_have_any_length(tmp_path):
    """A capture of several jumps lost its game: moves were cut after 16 characters."""
    position = (
        "class Position:\n    def __init__(self, moves=(), limit=None): self.moves, self.limit = moves, limit\n"
        "    to_move = property(lambda self: len(self.moves) % 2)\n    fen = property(lambda self: str(self.moves))\n"
        "    legal_moves = property(lambda self: ['a1xc3xe5xg7xe9xc11xa13'])\n"
        "    def apply(self, move): return Position((*self.moves, move), self.limit)\n"
    )
    rules = (
        "from core.arena.position_game import PositionGame\n"
        "class Jumps(PositionGame):\n    name, position = 'jumps', Position\n"
        "    def outcome(self, state): return ('1-0', 'taken') if state.moves else None\n"
    )
    (tmp_path / "jumps.py").write_text(position + rules)
    entry = {"game": "jumps.py:Jumps", "inputs": str(tmp_path), "prelude": position}
    assert play_match(match(FIRST, FIRST, **entry), InProcessSandbox()).termination == "taken"
    other = play_match(match(engine("return 'x' * 99"), FIRST, **entry), InProcessSandbox())
    assert other.message.startswith(f"'{'x' * 60}…' is not a legal move in ")


def test_a_position_may_be_a_dataclass_whose_annotations_are_texts(tmp_path):
    """It was executed outside of any module, in which dataclasses look names up."""
    head = "from __future__ import annotations\nfrom dataclasses import dataclass\n"
    (tmp_path / "position.py").write_text(
        f"{head}@dataclass(frozen=True)\nclass Position:\n    moves: tuple[str, ...] = ()\n"
    )
    assert position_in(tmp_path)().moves == ()


def test_the_position_stays_in_the_engine_between_moves():
    code = engine(
        "assert ''.join(position.moves) == '4' * 2 + '17' * ((len(position.moves) - 2) // 2)\n"
        "return position.legal_moves[0]"
    )
    record = play_match(match(code, LAST, opening=("4", "4")), InProcessSandbox())
    assert record.termination == "four_in_a_row"


def test_a_fault_of_ours_is_played_again():
    record = play_match(match(FIRST, LAST), InProcessSandbox(faults=2))
    assert record.tries == 3 and record.termination == "four_in_a_row"


def test_a_fault_that_stays_is_an_error_of_ours_not_a_result():
    with pytest.raises(SandboxError):
        play_match(match(FIRST, LAST), InProcessSandbox(faults=99))


def test_a_lost_process_is_a_fault_of_ours():
    with pytest.raises(JobLost):
        play_match(match(engine("raise ConnectionError"), LAST), InProcessSandbox())


def test_moves_are_spooled_as_they_are_made(tmp_path):
    spool = tmp_path / "game.jsonl"
    record = play_match(match(FIRST, LAST, spool=str(spool)), InProcessSandbox())
    lines = [json.loads(line) for line in spool.read_text().splitlines()]
    assert lines[0] == {"attempt": 1}
    assert [line["uci"] for line in lines[1:]] == [move.uci for move in record.moves]


def test_a_spool_on_another_machine_is_passed_over(tmp_path):
    record = play_match(match(FIRST, LAST, spool=str(tmp_path / "absent" / "x")), InProcessSandbox())
    assert record.termination == "four_in_a_row" and not (tmp_path / "absent").exists()
