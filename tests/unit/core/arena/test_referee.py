"""The referee: who loses when, and what each player is told."""

from __future__ import annotations

from itertools import chain, repeat

import pytest

from core.arena.limit import Clocks, MoveLimit
from core.arena.player import Forfeit, Reply, Turn
from core.arena.referee import Adjudication, play_game
from core.state.failure import FailureKind
from problems.connect_four.game import ConnectFour
from utils.errors import ConfigError, SandboxError

GAME = ConnectFour()


class Scripted:
    """Plays what it was told to and remembers what it was asked."""

    def __init__(self, *answers, scores=()):
        self.answers = iter(answers)
        self.scores = chain(scores, repeat(None))
        self.turns: list[Turn] = []
        self.away = 0.0

    def move(self, turn):
        self.turns.append(turn)
        answer = next(self.answers)
        if isinstance(answer, BaseException):
            raise answer
        return Reply(answer, next(self.scores), away=self.away)

    def close(self):
        return ""


class Watch:
    """A clock that moves by the next step at each look."""

    def __init__(self, *steps):
        self.steps, self.now = iter(steps), 0.0

    def __call__(self):
        self.now += next(self.steps, 0.0)
        return self.now


def play(white, black, **options):
    arguments = {"opening": (), "limit": MoveLimit.parse("depth:2"), "deadline": 10.0, **options}
    return play_game(GAME, (white, black), **arguments)


def test_a_game_to_four_in_a_row():
    seen = []
    record = play(Scripted("4", "4", "4", "4"), Scripted("1", "2", "1"), on_move=seen.append)
    assert (record.result, record.termination, record.loser) == ("1-0", "four_in_a_row", None)
    assert [move.uci for move in record.moves] == ["4", "1", "4", "2", "4", "1", "4"]
    assert [move.ply for move in seen] == list(range(1, 8))
    assert record.moves[-1].fen == "7/7/3x3/3x3/o2x3/oo1x3 o"


def test_each_player_is_told_only_the_moves_since_its_last_turn():
    white, black = Scripted("4", "4", "4", "4"), Scripted("1", "2", "1")
    play(white, black)
    assert [list(turn.moves) for turn in white.turns] == [[], ["4", "1"], ["4", "2"], ["4", "1"]]
    assert [list(turn.moves) for turn in black.turns] == [["4"], ["1", "4"], ["2", "4"]]


def test_an_odd_opening_gives_the_second_player_the_first_move():
    white, black = Scripted("9"), Scripted("3")
    record = play(white, black, opening=("4",))
    assert list(black.turns[0].moves) == ["4"] and list(white.turns[0].moves) == ["4", "3"]
    assert record.result == "0-1" and record.start == "7/7/7/7/7/3x3 o"


@pytest.mark.parametrize("answer", ["0", "8", "", "four", "4 ", "-1", "44"])
def test_an_illegal_move_loses_at_once(answer):
    record = play(Scripted("4"), Scripted(answer))
    assert (record.result, record.termination, record.loser) == ("1-0", "illegal_move", 1)
    assert record.failure is FailureKind.ILLEGAL_MOVE and repr(answer) in record.message
    assert len(record.moves) == 1


def test_a_full_column_is_illegal():
    record = play(Scripted("4", "4", "4", "4"), Scripted("4", "4", "4"))
    assert (record.result, record.termination) == ("0-1", "illegal_move")


def test_a_crash_loses_and_keeps_its_kind():
    record = play(Scripted(Forfeit("crash", FailureKind.MEMORY, "over 512 MB")), Scripted())
    assert (record.result, record.termination, record.failure) == ("0-1", "crash", FailureKind.MEMORY)


def test_a_fault_of_ours_is_no_result():
    with pytest.raises(SandboxError):
        play(Scripted(SandboxError("fork server")), Scripted())


def test_a_hang_costs_the_deadline_and_the_game():
    record = play(Scripted("4"), Scripted("1"), deadline=2.0, timer=Watch(0, 1, 0, 2.01))
    assert (record.result, record.termination) == ("1-0", "time_forfeit")


def test_a_move_is_not_charged_for_what_we_stood_still():
    white = Scripted("4", "9")
    white.away = 60.0
    record = play(white, Scripted("1"), limit=MoveLimit.parse("clock:1000+0"), timer=Watch(0, 60.25))
    assert record.moves[0].clock == (0.75, 1.0) and record.moves[0].seconds == 0.25


def test_clocks_run_down_and_gain_the_increment():
    clocks = Clocks(MoveLimit.parse("clock:1000+100"), 10.0)
    assert clocks.press(0, 0.4) and clocks.reading() == (0.7, 1.0)
    assert clocks.press(1, 1.0) and clocks.reading() == (0.7, 0.1)
    assert not clocks.press(0, 0.71)


def test_who_is_late_is_told_how_much_was_left():
    record = play(Scripted("4"), Scripted(), limit=MoveLimit.parse("clock:500+10"), timer=Watch(0, 0.7))
    assert record.termination == "time_forfeit" and record.message == "move 1 took 0.70 s, allowed were 0.50 s"


def test_a_player_is_told_both_clocks():
    white, black = Scripted("4", "9"), Scripted("1")
    record = play(white, black, limit=MoveLimit.parse("clock:1000+0"), timer=Watch(0, 0.25, 0, 0.5, 0, 0))
    assert white.turns[1].left_ms == (750, 500) and white.turns[1].seconds == pytest.approx(0.75)
    assert record.moves[1].clock == (0.75, 0.5)


def test_move_time_has_a_small_grace():
    clocks = Clocks(MoveLimit.parse("movetime:100"), 10.0)
    assert clocks.press(0, 0.14) and not clocks.press(0, 0.16)
    assert clocks.left_ms(1) == 100


@pytest.mark.parametrize(
    "text",
    ["nodes:0", "nodes", "depth:-1", "clock:10", "movetime:1.5", "time:5", "", "nodes:" + "9" * 5000, "nodes:\u0663"],
)
def test_a_limit_that_cannot_be_read_names_what_is_allowed(text):
    with pytest.raises(ConfigError, match="nodes:N, depth:N"):
        MoveLimit.parse(text)


@pytest.mark.parametrize("text", ["movetime:99999999999999999", "clock:9999999999999+5", "clock:5+9999999999999"])
def test_a_time_that_nobody_waits_for_is_refused(text):
    """The first move ended the arena with a traceback: no system waits so long."""
    with pytest.raises(ConfigError, match="at most 2000000000 milliseconds are waited for"):
        MoveLimit.parse(text)


def test_increments_add_up_to_no_longer_wait_than_a_system_knows():
    clocks = Clocks(MoveLimit.parse("clock:2000000000+2000000000"), 10.0)
    assert clocks.press(0, 1.0) and clocks.allowance(0) == 2e6


@pytest.mark.parametrize("text", ["nodes:100", "depth:3", "movetime:50", "clock:1000+10"])
def test_a_limit_reads_back(text):
    assert str(MoveLimit.parse(text)) == text


def test_resignation_needs_both_engines():
    rules = Adjudication(resign=True, resign_plies=4, resign_score=100)
    agreed = play(Scripted("4", "4", scores=(500, 500)), Scripted("1", "2", scores=(-500, -500)), adjudication=rules)
    assert (agreed.result, agreed.termination, len(agreed.moves)) == ("1-0", "adjudication", 4)
    boasting = play(Scripted("4", "4", "0", scores=(500, 500)), Scripted("1", "2", scores=(0, 0)), adjudication=rules)
    assert boasting.termination == "illegal_move"


def test_a_draw_is_given_when_both_see_nothing():
    rules = Adjudication(draw=True, draw_after=4, draw_plies=4)
    record = play(Scripted("1", "2", scores=(3, 0)), Scripted("7", "6", scores=(-3, 0)), adjudication=rules)
    assert (record.result, record.termination, record.loser) == ("1/2-1/2", "adjudication", None)


def test_a_game_has_an_end():
    record = play(Scripted("1", "2"), Scripted("7"), max_plies=3)
    assert (record.result, record.termination) == ("1/2-1/2", "length")
