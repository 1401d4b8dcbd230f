"""UCI options as programs announce them, and which of a user's words are refused."""

from __future__ import annotations

import pytest

from core.arena.limit import MoveLimit
from core.arena.match import Engine
from core.arena.suitability import unequal, unsuited
from core.arena.uci_options import UciOption, check_options, split_options
from utils.errors import ConfigError

# as Stockfish 15 says them
LINES = (
    "option name Hash type spin default 16 min 1 max 33554432",
    "option name Skill Level type spin default 20 min 0 max 20",
    "option name UCI_LimitStrength type check default false",
    "option name UCI_Elo type spin default 1320 min 1320 max 3190",
    "option name Clear Hash type button",
    "option name Debug Log File type string default",
    "option name Style type combo default Normal var Solid var Normal var Risky",
)
ANNOUNCED = {option.name: option for option in map(UciOption.of, LINES) if option is not None}


def test_options_are_read_as_announced():
    assert list(ANNOUNCED) == [
        "Hash", "Skill Level", "UCI_LimitStrength", "UCI_Elo", "Clear Hash", "Debug Log File", "Style",
    ]  # fmt: skip
    assert (ANNOUNCED["UCI_Elo"].low, ANNOUNCED["UCI_Elo"].high) == (1320, 3190)
    assert ANNOUNCED["Style"].choices == ("Solid", "Normal", "Risky")
    assert UciOption.of("uciok") is None


def test_words_of_a_command_line_are_split():
    words = ["stockfish", "option.Hash=16", "--fast", "option.Skill Level=3"]
    assert split_options(words) == (("stockfish", "--fast"), (("Hash", "16"), ("Skill Level", "3")))


def test_what_the_program_takes_is_let_through():
    check_options("x", [("hash", "16"), ("UCI_Elo", "1320"), ("Style", "Solid"), ("Debug Log File", "/x")], ANNOUNCED)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("Hsh", "1", "option Hsh: unknown .did you mean 'Hash'"),
        ("UCI_Elo", "100", "UCI_Elo=100: allowed are whole numbers from 1320 to 3190"),
        ("UCI_LimitStrength", "yes", "allowed are true and false"),
        ("Style", "Wild", "allowed are Solid, Normal, Risky"),
    ],
)
def test_what_it_does_not_take_is_one_line(name, value, said):
    with pytest.raises(ConfigError, match=said):
        check_options("stockfish", [(name, value)], ANNOUNCED)


def test_an_elo_is_meant_for_the_clock():
    elo = Engine(id="a", name="stockfish 1400", command=("sf",), options=(("UCI_Elo", "1400"),))
    full = elo.model_copy(update={"options": (*elo.options, ("UCI_LimitStrength", "true"))})
    clock = MoveLimit.parse("clock:1000+10")
    assert [line.split(": ")[1][:18] for line in unsuited([elo], MoveLimit.parse("nodes:1000"))] == [
        "UCI_Elo is calibra", "UCI_Elo does nothi",
    ]  # fmt: skip
    assert list(unsuited([full], clock)) == []


def test_very_different_times_a_move_are_told():
    seconds = {"quick": [0.001, 0.001], "slow": [0.02, 0.02]}
    (said,) = unequal(seconds, MoveLimit.parse("nodes:1000"))
    assert said.startswith("slow took 20 ms a move, quick 1 ms")
    assert not list(unequal(seconds, MoveLimit.parse("movetime:20")))
    assert not list(unequal({"a": [0.01], "b": [0.02]}, MoveLimit.parse("depth:2")))
