"""The moves of an opening with their names and positions, as the page shows them before those of the game."""

from __future__ import annotations

from dashboard.server.opening_line import opening_line


def test_an_opening_has_names_and_positions_from_the_rules():
    origin, line = opening_line("chess", ["a2a4", "d7d6", "a1a2", "g7g6"])
    assert origin.startswith("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w")
    assert [move.san for move in line] == ["a4", "d6", "Ra2", "g6"]
    assert line[-1].fen == "rnbqkbnr/ppp1pp1p/3p2p1/8/P7/8/RPPPPPPP/1NBQKBNR w Kkq - 0 3"


def test_an_opening_of_a_book_begins_from_its_position():
    start = "4k3/8/8/8/8/8/P7/4K3 b - - 0 1"
    assert opening_line("chess", [f"fen {start}"]) == (start, [])
    origin, line = opening_line("chess", [f"fen {start}", "e8e7"])
    assert (origin, line[0].san, line[0].fen) == (start, "Ke7", "8/4k3/8/8/8/8/P7/4K3 w - - 1 2")
    for game, opening in (("chess", ["fen 8/8 w", "e8e7"]), ("connect_four", ["fen 7/7 x", "e8e7"])):
        origin, line = opening_line(game, opening)
        assert origin == "" and [(move.uci, move.fen) for move in line] == [("e8e7", "")]


def test_of_a_foreign_game_and_of_illegal_moves_there_are_the_moves_alone():
    for game, moves in (("hex", ["a1"]), ("chess", ["e2e4", "e2e4"])):
        origin, line = opening_line(game, moves)
        assert origin == "" and [(move.san, move.fen) for move in line] == [(move, "") for move in moves]
