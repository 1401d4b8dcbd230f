"""Files of openings, in their three forms, and every way in which one of them is none."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path

import pytest
from support.python_chess import WITHOUT, chess_python

from core.arena.openings import draw_openings
from problems.chess_engines.game import Chess
from problems.connect_four.game import ConnectFour
from problems.connect_four.position import Position as FourPosition
from problems.opening_file import read_book
from utils.errors import ConfigError

CHESS, FOUR = Chess(), ConnectFour()
HOME = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
KINGS_PAWNS = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR"


def read(folder, name, text, game=CHESS, plies=None):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_book(str(path), game, plies)


def openings(book):
    return [one.opening for one in book.openings]


def test_positions(tmp_path):
    text = (
        f'# a remark\n\n{KINGS_PAWNS} w KQkq - bm Nf3; id "King\'s pawns";\r\n'
        f"{HOME} b KQkq e3 17 30\n  {HOME} w - - hmvc 3;"
    )
    book = read(tmp_path, "b.epd", text)
    starts = [f"{KINGS_PAWNS} w KQkq - 0 1", f"{HOME} b KQkq - 0 1", f"{HOME} w - - 0 1"]
    assert openings(book) == [(f"fen {start}",) for start in starts]
    assert [one.text for one in book.openings] == starts and [one.line for one in book.openings] == [3, 4, 5]
    assert [CHESS.to_move(CHESS.initial(opening)) for opening in openings(book)] == [0, 1, 0]


def test_moves_of_chess_in_either_notation(tmp_path):
    book = read(
        tmp_path, "b.txt", "e2e4 c7c5\n1. d4 d5 2. c4 # the queen's gambit\n1.Nf3 Nf6 2.g3 g6 3.Bg2 Bg7 4.0-0 O-O\n"
    )
    assert openings(book) == [
        ("e2e4", "c7c5"),
        ("d2d4", "d7d5", "c2c4"),
        ("g1f3", "g8f6", "g2g3", "g7g6", "f1g2", "f8g7", "e1g1", "e8g8"),
    ]


def test_moves_of_another_game(tmp_path):
    assert openings(read(tmp_path, "b.txt", "4 4 3\n1\n", FOUR)) == [("4", "4", "3"), ("1",)]


PGN = r"""
%an escaped line, which nobody reads (
[Event "One [of] \"many\""]
[White "M\\ller"]
[Result "1-0"]

1. e4 {the best (by test) ; they say} e5 $1 2. Nf3 (2. f4 exf4 (2... d5 {or} 3. exd5)) 2... Nc6!? ; and (so on
3. Bb5 a6?! 1-0

[Event "From a position"]
[SetUp "1"]
[FEN "8/5k2/8/8/8/8/P4K2/8 b - - 12 40"]

1... Ke6 2. a4 *
[Event "badly "quoted" name"]

1.d4 d5 2.c4 e6 1/2-1/2

[FEN "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"]
*
"""


def test_games(tmp_path):
    book = read(tmp_path, "b.pgn", PGN.lstrip("\n"))
    assert openings(book) == [
        ("e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6"),
        ("fen 8/5k2/8/8/8/8/P4K2/8 b - - 0 1", "f7e6", "a2a4"),
        ("d2d4", "d7d5", "c2c4", "e7e6"),
        (f"fen {KINGS_PAWNS} w KQkq - 0 1",),
    ]
    assert [one.line for one in book.openings] == [2, 9, 14, 18]


def test_games_without_a_line_between_them(tmp_path):
    assert openings(read(tmp_path, "b.pgn", '1. e4 *\n1. d4 *[Event "a"] 1. c4\n[Event "b"]\n1. f4')) == [
        ("e2e4",),
        ("d2d4",),
        ("c2c4",),
        ("f2f4",),
    ]


def test_so_many_moves_of_each(tmp_path):
    book = read(tmp_path, "b.pgn", PGN, plies=1)
    assert openings(book)[:2] == [("e2e4",), ("fen 8/5k2/8/8/8/8/P4K2/8 b - - 0 1", "f7e6")]
    assert openings(read(tmp_path, "b.txt", "4 4 3 3\n4 4 1 9\n", FOUR, plies=2)) == [("4", "4")], "the 9 is not read"


def test_names_in_another_encoding_and_packed_files(tmp_path):
    assert openings(read(tmp_path, "b.pgn", '[White "M\xfcller"]\n\n1. e4 *\n'.encode("latin-1"))) == [("e2e4",)]
    assert openings(read(tmp_path, "b.epd.gz", gzip.compress(f"{HOME} w - -\n".encode()))) == [
        (f"fen {HOME} w - - 0 1",)
    ]


def test_what_leads_to_the_same_position_is_left_out_and_told(tmp_path):
    book = read(tmp_path, "b.txt", "d4 Nf6 c4\nc4\nc4 Nf6 d4\n")
    assert [one.line for one in book.openings] == [1, 2]
    assert book.note.endswith(
        "2 openings; 1 more leads to the position of an earlier one (the first: line 3, as line 1)"
    )


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "b.epd",
            f"{KINGS_PAWNS} w KQkq -\nhello",
            "line 2: 'hello' is no position of chess: a position is four fields: ",
        ),
        ("b.epd", f"{HOME} x KQkq -", "is no position of chess: Invalid FEN"),
        ("b.epd", f"{HOME}/8 w KQkq -", "Invalid FEN: its board is not 8 × 8 squares"),
        ("b.epd", "4k3/8/8/8/8/8/8/8 w - -", "did not pass sanity checks"),
        ("b.epd", "4k3/8/8/8/8/8/8/4R1K1 w - -", "did not pass sanity checks"),
        ("b.epd", "P3k3/8/8/8/8/8/8/4K3 w - -", "a pawn stands on the first or the last rank"),
        ("b.epd", f"{HOME} w KQkq e4", "its square of en passant is 'e4'; allowed are -, a3..h3 and a6..h6"),
        (
            "b.epd",
            "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq -",
            "rights to castle are 'KQkq', but king and rooks",
        ),
        ("b.epd", f"{HOME} w FCfc -", "rights to castle are 'FCfc', but king and rooks stand for '-'"),
        ("b.epd", "R5k1/5ppp/8/8/8/8/8/K7 b - -", "line 1: the game is over after this opening (checkmate)"),
        ("b.epd", "7k/8/8/8/8/8/8/K7 w - -", "the game is over after this opening (insufficient material)"),
        ("b.epd", "\n# nothing\n", "it has no opening"),
        ("b.txt", "e4\ne4 e5 Ke3", "line 2: 'Ke3' is no legal move of chess in rnbqkbnr/pppp1ppp/"),
        ("b.txt", "f3 e5 g4 Qh4#", "is over after this opening (checkmate); arena.plies=N takes the first N moves"),
        ("b.txt", f"{HOME} w KQkq - 0 1", "line 1: 'rnbqkbnr/pppppppp/"),
        ("b.txt", "e4\n\N{LATIN SMALL LETTER E WITH ACUTE}4".encode("latin-1"), "it is no text in UTF-8 (byte 3)"),
        (
            "b.pgn",
            "1. e4 e5 {a comment\n2. Nf3 *",
            "line 1: '{a comment 2. Nf3 *': a comment begins here that does not end",
        ),
        (
            "b.pgn",
            '[Event "a"]\n\n1. e4 (1. d4 *\n\n[Event "b"]\n\n1. c4 *',
            "line 1: a variation of this game does not end",
        ),
        ("b.pgn", "1. e4 e5) *", "line 1: a variation ends here that has not begun"),
        ("b.pgn", "1. e4\ne5 } *", "line 2: '} *': that is no PGN"),
        ("b.pgn", '[Event "a"]\n\n1. e4\ne5 2. Nd2 *', "line 4: 'Nd2' is no legal move of chess"),
        ("b.pgn", '[Variant "Chess960"]\n\n1. e4 *', "line 1: its Variant is 'Chess960', not chess"),
        ("b.pgn", '\n[FEN "8/8/8 w - - 0 1"]\n*', "line 2: '8/8/8 w - - 0 1' is no position of chess"),
        (
            "b.bin",
            b"\x00\x01",
            "is told by its ending; allowed: .epd, .fen (positions), .pgn (games), .txt (moves, one opening a line)",
        ),
        ("b.epd.zip", b"PK", "allowed: .epd, .fen"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path, name, text, said):
    with pytest.raises(ConfigError) as told:
        read(tmp_path, name, text)
    message = str(told.value)
    assert message.startswith(f"arena.book={tmp_path / name}: ") and said in message and "\n" not in message, message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("4 4\n4 8", "line 2: '8' is no legal move of connect_four in 7/7/7/7/7/3x3 o; allowed: 1, 2, 3, 4, 5, 6, 7"),
        ("4 4 4 4 4 4 4", "'4' is no legal move of connect_four"),
        ("1 2 1 2 1 2 1", "the game is over after this opening (four in a row); arena.plies=N"),
    ],
)
def test_the_same_of_another_game(tmp_path, text, said):
    with pytest.raises(ConfigError) as told:
        read(tmp_path, "b.txt", text, FOUR)
    assert said in str(told.value)


def test_a_game_that_begins_from_its_start_position_alone_says_so(tmp_path):
    with pytest.raises(
        ConfigError, match=r"line 1: '7/7.* it begins from its start position alone: give openings as moves"
    ):
        read(tmp_path, "b.epd", "7/7/7/7/7/3x3 o", FOUR)


class Grid(FourPosition):
    """The user's position, which may be any."""

    @classmethod
    def from_fen(cls, fen):
        if fen not in ("7/7/7/7/7/7 x", "7/7/7/7/7/7 o"):
            raise ValueError("the board is to be empty")
        return cls(moves=("1",) if fen[-1] == "o" else ())


class Own(ConnectFour):
    name = "own"
    position = Grid


def test_a_game_of_ones_own_may_begin_from_positions(tmp_path):
    book = read(tmp_path, "b.epd", "7/7/7/7/7/7 o\n7/7/7/7/7/7 x\n", Own())
    assert [one.text for one in book.openings] == ["7/7/7/7/7/7 o", "7/7/7/7/7/7 x"]
    assert openings(book)[0] == ("fen 7/7/7/7/7/7 o",) and Own().to_move(Own().initial(openings(book)[0])) == 1
    with pytest.raises(ConfigError, match="line 1: 'x' is no position of own: the board is to be empty"):
        read(tmp_path, "b.epd", "x", Own())


def test_there_is_no_such_file_and_too_many_openings(tmp_path, monkeypatch):
    for path, said in ((tmp_path / "b.epd", "no such file"), (tmp_path, "that is a folder")):
        with pytest.raises(ConfigError, match=said):
            read_book(str(path), CHESS, None)
    (tmp_path / "mine.epd").write_text(HOME)

    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as locked, pytest.raises(ConfigError, match=r"it cannot be read \(Permission denied\)"):
        locked.setattr("utils.missing_file.os.stat", denied)
        locked.setattr(Path, "open", denied)
        read_book(str(tmp_path / "mine.epd"), CHESS, None)
    monkeypatch.setattr("problems.opening_file.MOST_OPENINGS", 2)
    with pytest.raises(ConfigError, match="it has more than 2 openings"):
        read(tmp_path, "b.txt", "e4\nd4\nc4\n")


def test_every_move_of_random_games_is_read_back_from_its_san():
    for seed in range(3):
        for line in draw_openings(CHESS, 8, plies=40, seed=seed, fewer=True):
            state = CHESS.initial()
            for move in line:
                for legal in CHESS.legal(state):
                    assert CHESS.read_move(state, CHESS.san(state, legal)) == legal
                state = CHESS.apply(state, move)


@pytest.mark.skipif(chess_python() is None, reason=WITHOUT)
def test_python_chess_reads_the_same_games(tmp_path):
    path = tmp_path / "b.pgn"
    path.write_text(PGN.replace('"quoted"', "quoted"))
    script = (
        "import chess.pgn, io, json, sys\nfile = open(sys.argv[1])\ngames = []\n"
        "while (game := chess.pgn.read_game(file)) is not None:\n"
        "    games.append([game.board().epd(), [move.uci() for move in game.mainline_moves()]])\n"
        "print(json.dumps(games))"
    )
    told = subprocess.run([chess_python(), "-I", "-c", script, str(path)], capture_output=True, text=True, check=True)
    ours = []
    for opening in openings(read_book(str(path), CHESS, None)):
        start = [text for text in opening if text.startswith("fen ")]
        ours.append([" ".join(CHESS.text(CHESS.initial(start)).split()[:4]), list(opening[len(start) :])])
    assert json.loads(told.stdout) == ours
