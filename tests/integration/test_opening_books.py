"""Openings of the user's own, through the command line: `arena --book`, and a search with `arena.book`."""

from __future__ import annotations

import json
import random
import re
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from support.command_line import Cli
from support.once import made_once

from core.arena.export import standalone
from core.arena.openings import draw_openings
from core.storage.reader import RunReader
from dashboard.server.arena_views import game_detail
from problems.chess_engines.game import Chess
from problems.chess_engines.problem import spec as chess_spec
from problems.connect_four.game import ConnectFour
from problems.registry import build_problem
from utils.config import load_config

ROOT = Path(__file__).resolve().parents[2]
CHESS_ENGINES, FOUR_ENGINES = (ROOT / "problems" / name / "engines" for name in ("chess_engines", "connect_four"))
FOUR = [str(FOUR_ENGINES / f"{name}.py") for name in ("greedy", "alpha_beta")]
QUICK = "arena.limit=depth:1"
HOME = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
POSITIONS = [
    "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -",
    "rnbqkb1r/pppppppp/5n2/8/2PP4/8/PP2PPPP/RNBQKBNR b KQkq -",
    "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq -",
    "rnbqkbnr/ppp2ppp/4p3/3p4/3PP3/8/PPP2PPP/RNBQKBNR w KQkq -",
]


def tags(pgn: str, name: str) -> list[str]:
    return re.findall(rf'^\[{name} "(.*)"\]$', pgn, re.MULTILINE)


def first_moves(pgn: str, plies: int) -> list[tuple[str, ...]]:
    """Of each game, without numbers and comments."""
    found = []
    for text in re.split(r"\n\n(?=\[)", pgn.strip()):
        moves = re.sub(r"\{[^}]*\}|\d+\.+", " ", text.partition("\n\n")[2]).split()
        found.append(tuple(moves[:plies]))
    return found


def four_book(folder: Path, count: int = 12, plies: int = 3) -> tuple[Path, list[tuple[str, ...]]]:
    """A book of connect four, none of whose openings is decided."""
    rng, lines = random.Random(7), {}
    game = ConnectFour()
    while len(lines) < count:
        line = tuple(rng.choice("1234567") for _ in range(plies))
        if not game.decided(game.initial(line)):
            lines[game.text(game.initial(line))] = line
    path = folder / "four.txt"
    path.write_text("".join(" ".join(line) + "\n" for line in lines.values()))
    return path, list(lines.values())


def events(run_dir: Path, kind: str) -> list[dict]:
    with closing(sqlite3.connect(f"file:{run_dir / 'run.db'}?mode=ro", uri=True)) as db:
        rows = db.execute(f"select body from events where type='{kind}' order by seq").fetchall()
    return [json.loads(body) for (body,) in rows]


def games(run_dir: Path) -> list[dict]:
    with closing(sqlite3.connect(f"file:{run_dir / 'run.db'}?mode=ro", uri=True)) as db:
        return [json.loads(game) for (game,) in db.execute("select game from games")]


# ---------------------------------------------------------------- arena


def test_positions_reach_engine_files_and_uci_programs_alike(cli):
    """The same program by either way plays the same games from every position of the book."""
    spec, book = chess_spec(), cli.folder / "b.epd"
    book.write_text("\n".join(f'{position} id "{n}";' for n, position in enumerate(POSITIONS)))
    code = (CHESS_ENGINES / "greedy.py").read_text()
    (cli.folder / "exported.py").write_text(standalone(code, spec.prelude, "greedy"))
    program, pgn = f"{sys.executable} {cli.folder / 'exported.py'}", cli.folder / "games.pgn"
    words = [str(CHESS_ENGINES / "greedy.py"), program, "--book", str(book), "--pgn", str(pgn), "--json", QUICK]
    ended = cli.here("arena", "--problem", "chess_engines", *words)
    assert ended.code == 0 and f"arena.book={book}: 4 openings" in ended.err, ended.err
    found = ended.json
    assert found["forfeits"] == [] and found["pairs"][0]["pentanomial"] == [0, 0, 4, 0, 0]
    written = pgn.read_text()
    starts = [f"{position} 0 1" for position in POSITIONS]
    assert sorted(set(tags(written, "FEN"))) == sorted(starts) and tags(written, "SetUp") == ["1"] * 8
    assert len(tags(written, "Opening")) == 8, "positions are named, not only moves"
    black = next(text for text in re.split(r"\n\n(?=\[Event)", written) if POSITIONS[1] in text)
    moves = black.partition("\n\n")[2]
    assert moves.startswith("1... ") and re.search(r"\} 2\. \S+ \{", moves) and " 1. " not in moves


def test_our_own_pgn_is_a_book_too(cli):
    """Of any game: what `--pgn` writes is read again, positions and first moves."""
    book, _ = four_book(cli.folder)
    pgn, again = cli.folder / "games.pgn", cli.folder / "again.pgn"
    words = ["--openings", "3", "--pgn"]
    assert cli.here("arena", *FOUR, "--book", str(book), *words, str(pgn), QUICK).code == 0
    ended = cli.here("arena", *FOUR, "--book", str(pgn), "--plies", "3", *words, str(again), QUICK)
    assert ended.code == 0 and "3 openings; 3 more lead" in ended.err, ended.err
    assert set(first_moves(pgn.read_text(), 3)) == set(first_moves(again.read_text(), 3))


def test_an_order_is_that_of_the_file_or_a_seeds(cli):
    book, lines = four_book(cli.folder)
    pgn, told = cli.folder / "games.pgn", {}
    for name, words in {
        "in order": ["--order", "sequential"],
        "from the fourth": ["--order", "sequential", "--start", "4"],
        "random": ["--order", "random"],
        "by default": [],
        "again": ["search.workers=1"],
        "another seed": ["project.seed=5"],
    }.items():
        ended = cli.here("arena", *FOUR, "--book", str(book), "--openings", "3", "--pgn", str(pgn), QUICK, *words)
        assert ended.code == 0, ended.err
        told[name] = sorted(set(first_moves(pgn.read_text(), 3)))
        assert set(told[name]) <= set(lines) and len(told[name]) == 3
    assert told["in order"] == sorted(lines[:3]) and told["from the fourth"] == sorted(lines[3:6])
    assert told["random"] == told["by default"] == told["again"] != told["another seed"]


def test_so_many_openings_as_the_book_has_where_no_number_is_asked_for(cli):
    book = cli.folder / "b.txt"
    book.write_text("3 3 5 5\n1 2\n1 2\n")
    ended = cli.here("arena", *FOUR, "--book", str(book), "--json", QUICK)
    assert ended.code == 0 and ended.json["games"] == 2
    assert ended.err.splitlines() == [
        f"arena.book={book}: 2 openings; 1 more leads to the position of an earlier one (the first: line 3, as line 2)",
        f"arena.book={book}: a side wins by force after the opening of line 1: passed over",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--book", "none.epd"], "arena.book=none.epd: no such file"),
        (["--book", "b.txt", "--openings", "3"], "arena.book=b.txt: it has 2 openings to play from, and 3 are wanted"),
        (["--book", "b.txt", "--games", "6"], "it has 2 openings to play from, and 3 are wanted"),
        (["--book", "b.txt", "--order", "sequential", "--start", "3"], "from its opening 3 on it has 0 openings"),
        (["--book", "b.txt", "--start", "2"], "--start 2: a random order has no beginning; add --order sequential"),
        (["--order", "sequential"], "--order sequential: openings are random without a book; add --book FILE"),
        (["--book", "b.txt", "--order", "up"], "--order: invalid choice: 'up'"),
        (["--book", "b.txt", "--plies", "0"], "--plies: 0: a whole number from 1 on"),
        (["--book", "bad.txt"], "arena.book=bad.txt: line 2: '9' is no legal move of connect_four"),
        (
            ["--book", "b.epd"],
            "line 1: '7/7 x' is no position of connect_four: it begins from its start position alone",
        ),
        (["--book", "b.bin"], "arena.book=b.bin: what it holds is told by its ending; allowed: .epd"),
    ],
)
def test_a_wrong_book_is_one_line_and_exit_code_2(cli, words, said):
    for name, text in {"b.txt": "1 2\n1 4\n", "bad.txt": "1\n2 9\n", "b.epd": "7/7 x\n", "b.bin": "x"}.items():
        (cli.folder / name).write_text(text)
    ended = cli.here("arena", *FOUR, *words, QUICK)
    assert ended.code == 2 and said in ended.line and ended.out == "", ended.err


# ---------------------------------------------------------------- a search

SMALL = ["arena.openings=2", "arena.gauntlet=4", "arena.limit=nodes:60", "search.max_generations=1"]


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """A whole run of connect four with a book, and the book's lines."""

    def search(folder: Path) -> None:
        made = Cli(folder)
        _, lines = four_book(folder, 16)
        ended = made.here("run", "--problem", "connect_four", "arena.book=four.txt", "search.workers=1", *SMALL)
        assert ended.code == 0, ended.err
        (folder / "told.json").write_text(json.dumps([lines, ended.out]))
        made.close()

    cli = Cli(made_once(tmp_path_factory, "book", search))
    lines, printed = json.loads((cli.folder / "told.json").read_text())
    yield cli, [tuple(line) for line in lines], printed
    cli.close()


def test_a_search_plays_from_the_book_and_claims_from_a_part_that_it_held_out(searched):
    cli, lines, printed = searched
    assert "note: arena.book=four.txt: 16 openings; 4 are held out for the final part" in printed
    by_kind = {
        kind: {tuple(game["opening"]) for game in games(cli.run_dir) if game["kind"] == kind}
        for kind in ("rated", "final")
    }
    assert by_kind["rated"] and by_kind["final"] and not by_kind["rated"] & by_kind["final"]
    assert by_kind["rated"] | by_kind["final"] <= set(lines)
    assert len(by_kind["rated"]) > 2, "each generation draws anew"


def test_the_same_book_gives_the_same_run_for_any_number_of_workers(searched, cli):
    first, _, _ = searched
    four_book(cli.folder, 16)
    ended = cli.here("run", "--problem", "connect_four", "arena.book=four.txt", "search.workers=2", *SMALL)
    assert ended.code == 0, ended.err
    assert cli.show()["journal_sha256"] == first.show()["journal_sha256"]
    assert {game["key"] for game in games(cli.run_dir)} == {game["key"] for game in games(first.run_dir)}


def test_who_goes_on_is_told_of_another_book(searched):
    cli, _, _ = searched
    assert cli.here("replay", "latest", "--verify").code == 0
    book = cli.folder / "four.txt"
    text = book.read_text()
    try:
        book.write_text("".join(text.splitlines(keepends=True)[:-6]))
        ended = cli.here("resume", "latest", "search.max_generations=2")
        assert (
            ended.code == 2
            and "four.txt has changed since the run began; what it scored cannot be compared" in ended.line
        )
        differs = cli.here("replay", "latest", "--verify")
        assert differs.code == 1 and "four.txt has changed since the run began" in differs.out + differs.err
        book.rename(cli.folder / "moved.txt")
        ended = cli.here("resume", "latest", "search.max_generations=2")
        assert ended.code == 2 and ended.line.endswith("--arena.book=PATH)") and "no such file" in ended.line
        (cli.folder / "moved.txt").write_text(text)
        ended = cli.here("resume", "latest", "arena.book=moved.txt", "search.max_generations=2")
        assert ended.code == 0, ended.err
    finally:
        book.write_text(text)


def test_a_search_from_positions(cli):
    """Each game is told, exported and shown from the position that it began from."""
    game, book = Chess(), cli.folder / "b.epd"
    drawn = draw_openings(game, 12, plies=5, seed=4)
    positions = [" ".join(game.text(game.initial(line)).split()[:4]) for line in drawn]
    book.write_text("\n".join(positions))
    ended = cli.here("run", "--problem", "chess_engines", f"arena.book={book}", *SMALL, "arena.limit=nodes:30")
    assert ended.code == 0, ended.err
    assert cli.here("replay", "latest", "--verify").code == 0
    starts = {f"{position} 0 1" for position in positions}
    begun = [event for event in events(cli.run_dir, "game.started") if event["opening"]]
    assert {event["start"] for event in begun} <= starts and len(begun) > 20
    assert all(event["opening"] == [f"fen {event['start']}"] for event in begun)
    assert all(game_["loser"] is None for game_ in games(cli.run_dir) if game_["kind"] != "smoke")
    best = (cli.run_dir / "best_solution" / "games.pgn").read_text()
    assert set(tags(best, "FEN")) <= starts and len(tags(best, "FEN")) > 4
    with RunReader(cli.run_dir) as reader:
        shown = game_detail(reader, begun[0]["game_id"])
    assert shown.origin == shown.start == begun[0]["start"] and shown.opening == [] and shown.opening_name


def test_builders_are_told_of_the_book(tmp_path):
    for words, told in (([], False), ([f"arena.book={four_book(tmp_path)[0]}"], True)):
        problem = build_problem(load_config(overrides=words, presets={"problem": "connect_four"}))
        sections = problem.prompt_extras()["sections"]
        assert ("position.moves" if told else "after 4 random moves") in sections["Openings"]
        assert bool(problem.hidden_files) is told and bool(problem.note) is told


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 2\n1 9\n", "arena.book=b.txt: line 2: '9' is no legal move of connect_four in "),
        (
            "1 2\n1 4\n",
            "its 2 openings (1 for selection, 1 held out for the final part) are too few for arena.openings=2",
        ),
        ("1\n", "at most 0 here"),
    ],
)
def test_a_search_with_a_wrong_book_does_not_begin(cli, text, said):
    (cli.folder / "b.txt").write_text(text)
    ended = cli.here("run", "--problem", "connect_four", "arena.book=b.txt", *SMALL)
    assert ended.code == 2 and said in ended.line and not cli.runs, ended.err


def test_so_many_moves_without_a_book(cli):
    pgn = cli.folder / "games.pgn"
    ended = cli.here("arena", *FOUR, "--openings", "2", "--plies", "7", "--pgn", str(pgn), QUICK)
    assert ended.code == 0, ended.err
    assert len(set(first_moves(pgn.read_text(), 7))) == 2
    assert pgn.read_text().count("[%emt") == sum(map(int, tags(pgn.read_text(), "PlyCount"))) - 4 * 7
