from __future__ import annotations

from dataclasses import replace

import pytest
from arena_support import four_settings, four_spec
from arena_support import make_deps as deps_of

from core.arena.arena_run import ArenaRun
from core.arena.opening_book import BookOpening, OpeningBook
from core.arena.openings import opening_parts
from problems.connect_four.game import ConnectFour
from utils.errors import ConfigError

GAME = ConnectFour()
WON = ("3", "3", "5", "5")
"""The side to move wins by force."""


def book_of(*lines: tuple[str, ...], repeated=()) -> OpeningBook:
    openings = [BookOpening(number, line, GAME.text(GAME.initial(line))) for number, line in enumerate(lines, 1)]
    return OpeningBook("arena.book=b.txt", GAME, openings, repeated)


PAIRS = [(first, second) for first in "1234567" for second in "124567"]


def test_the_parts_share_nothing_and_a_quarter_is_held_out():
    for size in (2, 3, 4, 5, 20, 42):
        book = book_of(*PAIRS[:size])
        ours, held = book.part(False), book.part(True)
        assert {one.line for one in ours}.isdisjoint(one.line for one in held)
        assert len(ours) + len(held) == size and len(held) == -(-size // 4)


def test_the_parts_are_a_function_of_the_positions_and_not_of_their_order():
    held = [{one.text for one in book_of(*lines).part(True)} for lines in (PAIRS, PAIRS[::-1])]
    assert held[0] == held[1]


def test_a_draw_is_a_function_of_its_seed():
    book = book_of(*PAIRS)
    draws = [book.draw(6, seed=seed, held_out=False) for seed in (1, 1, 2)]
    assert draws[0] == draws[1] == book_of(*PAIRS).draw(6, seed=1, held_out=False) != draws[2]
    assert len(set(draws[0])) == 6
    whole = book.draw(99, seed=1, held_out=None)
    assert sorted(whole) == sorted(PAIRS) and whole != PAIRS


def test_what_is_not_wanted_again_makes_room_for_others():
    book = book_of(*PAIRS[:8])
    first = book.draw(3, seed=1, held_out=False)
    others = book.draw(3, seed=1, held_out=False, without=first)
    assert len(others) == 3 and not set(first) & set(others)
    assert book.draw(3, seed=1, held_out=False, without=[*first, *others]) == []


def test_in_the_files_order_from_any_of_its_openings_on():
    book = book_of(*PAIRS[:8])
    assert book.sequence(3) == PAIRS[:3] and book.sequence(9, 7) == PAIRS[6:8] and book.sequence(1, 9) == []


def test_an_opening_that_is_decided_is_passed_over_and_told_once():
    book = book_of(WON, ("1", "2"), ("1", "3"))
    assert book.sequence(2) == [("1", "2"), ("1", "3")]
    assert book.news() == ["arena.book=b.txt: a side wins by force after the opening of line 1: passed over"]
    assert book.sequence(3) == [("1", "2"), ("1", "3")] and book.news() == []


def test_a_book_that_is_too_small_for_a_run_is_refused():
    book = book_of(*PAIRS[:8])
    book.check(6)
    with pytest.raises(
        ConfigError, match=r"8 openings \(6 for selection, 2 held out .*arena\.openings=7; .* at most 6"
    ):
        book.check(7)
    with pytest.raises(ConfigError, match=r"1 opening \(0 for selection, 1 held out .*at most 0"):
        book_of(("1",)).check(1)
    book = book_of(WON, ("1", "2"), ("1", "4"))
    assert WON in [one.opening for one in book.part(False)], "else nothing is passed over here"
    with pytest.raises(ConfigError, match=r"held out for the final part, 1 opening passed over\).*at most 1 here$"):
        book.check(2)


def test_what_was_left_out_is_told_with_its_lines():
    assert book_of(("1",), repeated=[(7, 1), (9, 1)]).note == (
        "arena.book=b.txt: 1 opening; 2 more lead to the position of an earlier one (the first: line 7, as line 1)"
    )
    assert book_of(("1",)).note == "arena.book=b.txt: 1 opening"


def test_the_parts_of_an_opening():
    assert opening_parts(("fen 8/8 w", "e2e4")) == ("8/8 w", ("e2e4",))
    assert opening_parts(("e2e4",)) == (None, ("e2e4",)) and opening_parts(()) == (None, ())


def test_a_run_draws_from_the_book_by_its_label_and_tells_what_it_passed_over(tmp_path, capsys):
    """Each part once, and another draw for each tournament; an SPRT asks for openings that it has not had."""
    book = book_of(WON, ("1", "2"), ("1", "4"), *PAIRS[8:30])
    assert WON in [one.opening for one in book.part(False)], "else nothing is passed over here"
    run = ArenaRun(deps_of(tmp_path), replace(four_spec(), book=book), four_settings())
    draws = [run.openings(6, label) for label in ("1/a", "1/a", "2/a")]
    assert draws[0] == draws[1] != draws[2]
    ours = run.openings(99, "all")
    held = run.openings(99, "final", held_out=True)
    assert not set(ours) & set(held) and set(ours) | set(held) == {one.opening for one in book.openings} - {WON}
    more = run.openings(6, "1/a", "more", without=draws[0])
    assert len(more) == 6 and not set(more) & set(draws[0])
    told = [line for line in capsys.readouterr().err.splitlines() if "passed over" in line]
    assert len(told) == 1 and told[0].startswith("WARNING: arena.book=b.txt: ")
    random = ArenaRun(deps_of(tmp_path), four_spec(), four_settings())
    lines = random.openings(6, "1/a")
    others = random.openings(6, "1/a", without=lines[:2])
    assert others[:4] == lines[2:] and len({*others, *lines}) == 8, "others take their place"
    few = ArenaRun(deps_of(tmp_path), replace(four_spec(), opening_plies=1), four_settings())
    found = few.openings(8, "1/a", "more", without=few.openings(3, "1/a"))
    assert len(found) == 2, "a test that asked for more pairs than there are openings ended the run"
