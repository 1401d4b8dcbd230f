"""The exported file under UCI, and the UCI player against scripted programs."""

from __future__ import annotations

import errno
import stat
import subprocess
import sys
import time

import pytest
from support.standstill import halt_once

from core.arena.export import standalone
from core.arena.limit import MoveLimit
from core.arena.match import Engine, Match, play_match
from core.arena.player import SEAT_TEXT, Forfeit, Reply, Turn
from core.arena.uci import UciPlayer
from core.state.failure import FailureKind
from problems.chess_engines.problem import spec as chess_spec
from problems.connect_four.problem import spec as four_spec
from utils.errors import JobLost

CHESS, FOUR = chess_spec(), four_spec()
DEPTH = MoveLimit.parse("depth:1")


def talk(path, *lines: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, str(path)],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.fixture(params=["four", "chess"])
def exported(request, tmp_path):
    spec = FOUR if request.param == "four" else CHESS
    path = tmp_path / "engine.py"
    path.write_text(standalone(spec.anchor.code, spec.prelude, 'a "title" \\ with\nnoise'))
    return spec, path


def test_an_exported_engine_speaks_uci(exported):
    spec, path = exported
    first = spec.game.legal(spec.game.initial())[0]
    words = ["uci", "isready", "ucinewgame", "position startpos", "go depth 1", f"position startpos moves {first}"]
    heard = talk(path, *words, "go wtime 1000 btime 1000 winc 0 binc 0", "go movetime 20", "go nodes 50", "go", "quit")
    assert heard[0] == "id name alpha-beta" and "uciok" in heard and "readyok" in heard
    moves = [line.split()[1] for line in heard if line.startswith("bestmove")]
    states = [spec.game.initial(), *[spec.game.initial((first,))] * 4]
    assert len(moves) == 5 and all(m in spec.game.legal(s) for m, s in zip(moves, states, strict=True))


def infos(heard: list[str]) -> list[dict[str, str]]:
    """The words of each `info` line by their keys, the line of moves as one text."""
    found = []
    for line in heard:
        if line.startswith("info "):
            head, _, moves = line.removeprefix("info ").partition(" pv ")
            words = head.replace("score cp", "cp").replace("score mate", "mate").split()
            found.append({**dict(zip(words[::2], words[1::2], strict=True)), "pv": moves})
    return found


def test_depth_and_nodes_are_obeyed_and_told(exported):
    spec, path = exported
    *heard, best = talk(path, "position startpos", "go depth 4")
    told = infos(heard)
    assert list(dict.fromkeys(int(info["depth"]) for info in told)) == [1, 2, 3, 4]
    assert best == f"bestmove {told[-1]['pv'].split()[0]}"
    for info in told:
        line = info["pv"].split()
        assert {"cp", "time", "nodes", "nps", "pv"} <= info.keys() and 1 <= len(line) <= int(info["depth"])
        spec.game.initial(line)  # ValueError where a move is not legal
    few, many = (infos(talk(path, "position startpos", f"go nodes {nodes}")) for nodes in (300, 5000))
    assert int(few[-1]["nodes"]) <= 300 and int(many[-1]["nodes"]) <= 5000
    assert int(many[-1]["depth"]) > int(few[-1]["depth"])


def test_time_is_obeyed(exported):
    _, path = exported
    started = time.perf_counter()
    heard = talk(path, "position startpos", "go movetime 1500", "go wtime 600000 btime 600000 movetime 20")
    assert 1.0 < time.perf_counter() - started < 20 and sum(line.startswith("bestmove") for line in heard) == 2
    end = next(i for i, line in enumerate(heard) if line.startswith("bestmove"))
    long, short = (sum(int(info["nodes"]) for info in infos(said)[-1:]) for said in (heard[:end], heard[end:]))
    assert long > 5 * short, "seventy-five times the time, of which the first search also spends some on what both need"


def test_an_endless_search_ends_by_stop(exported):
    spec, path = exported
    process = subprocess.Popen([sys.executable, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:
        process.stdin.write("position startpos\ngo infinite\nisready\n")
        process.stdin.flush()
        seen = list(iter(process.stdout.readline, "readyok\n"))
        process.stdin.write("stop\nquit\n")
        process.stdin.flush()
        rest = process.stdout.read().splitlines()
    assert not any(line.startswith("bestmove") for line in seen)
    moves = [line.split()[1] for line in rest if line.startswith("bestmove")]
    assert len(moves) == 1 and moves[0] in spec.game.legal(spec.game.initial()) and process.returncode == 0


@pytest.mark.parametrize("words", [("go infinite", "stop"), ("go movetime 300",), ("go wtime 300 btime 300",)])
def test_an_engine_that_does_not_heed_time_is_interrupted(tmp_path, words):
    """Its last report is played; the next search is its own again."""
    code = (
        "class E:\n    name = 'deaf'\n    def select_move(self, position, time_left_ms):\n"
        "        position.limit.report(3, 12, 5, ['6', '4'])\n        while not position.limit.depth: pass\n"
        "        return '2'\nengine = E()\n"
    )
    path = tmp_path / "engine.py"
    path.write_text(standalone(code, FOUR.prelude, "x"))
    heard = talk(path, "position startpos", *words, "go depth 1")
    assert [line.split()[1] for line in heard if line.startswith("bestmove")] == ["6", "2"]


def test_an_engine_that_catches_its_interrupt_prints_and_tells_odd_things_still_moves(tmp_path):
    """The arena kills the first, keeps the second apart and passes over the third; an exported engine said no move."""
    code = (
        "class E:\n    def select_move(self, position, time_left_ms):\n"
        "        print('half a line', end='', flush=True)\n"
        "        position.limit.report(1, None, 5, [4])\n        position.limit.report(2, 3, 5, [6])\n"
        "        try:\n            while not position.limit.depth: pass\n        except: pass\n        return '2'\n"
        "engine = E()\n"
    )
    path = tmp_path / "engine.py"
    path.write_text(standalone(code, FOUR.prelude, "x"))
    words = "position startpos\ngo movetime 60\ngo depth 1\n"
    done = subprocess.run([sys.executable, str(path)], input=words, capture_output=True, text=True, timeout=20)
    heard = done.stdout.splitlines()
    assert moves_in(heard) == ["2", "2"] and done.stderr == "half a line" * 2
    assert [info["pv"] for info in infos([line for line in heard if not line.startswith("bestmove")])] == ["6", "6"]


def test_a_missing_library_is_one_line(tmp_path):
    path = tmp_path / "engine.py"
    path.write_text(standalone("import no_such\n" + FOUR.sparring.code, FOUR.prelude, "x", {"no_such": "no-such"}))
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=30)
    assert done.stderr == "this engine needs no-such: python -m pip install no-such\n" and done.returncode == 1


def test_an_exported_engine_still_binds_engine_and_plays_as_it_did(exported):
    spec, path = exported
    space = {"__name__": "exported"}
    exec(compile(path.read_text(), str(path), "exec"), space)
    position = space["Position"](limit=space["Limit"](depth=1))
    plain: dict = {}
    exec(spec.prelude, plain)
    exec(spec.anchor.code, plain)
    plain_position = plain["Position"](limit=space["Limit"](depth=1))
    assert space["engine"].select_move(position, 1000) == plain["engine"].select_move(plain_position, 1000)


def test_a_new_game_finds_the_engine_as_it_was_loaded(tmp_path):
    """One process plays one game with us; other programs keep it for a whole match."""
    code = (
        "class E:\n    name = 'counts'\n    def __init__(self): self.asked = 0\n"
        "    def select_move(self, position, time_left_ms):\n        self.asked += 1\n        return str(self.asked)\n"
        "engine = E()\n"
    )
    path = tmp_path / "engine.py"
    path.write_text(standalone(code, FOUR.prelude, "x"))
    game = ["position startpos", "go nodes 5", "position startpos moves 1 2", "go nodes 5"]
    heard = talk(path, "ucinewgame", *game, "ucinewgame", *game, "quit")
    assert [line.split()[1] for line in heard if line.startswith("bestmove")] == ["1", "2", "1", "2"]


def test_an_engine_that_cannot_be_copied_plays_on(tmp_path):
    code = FOUR.sparring.code + "\nimport threading\nengine.lock = threading.Lock()\n"
    path = tmp_path / "engine.py"
    path.write_text(standalone(code, FOUR.prelude, "x"))
    assert any(line.startswith("bestmove") for line in talk(path, "ucinewgame", "position startpos", "go nodes 5"))


def test_a_future_import_stays_on_top_of_an_exported_file_and_a_main_part_gives_way(tmp_path):
    """An engine's own `if __name__ == …` ran in place of UCI."""
    main = "if __name__ == '__main__':\n    raise SystemExit('a demonstration')\n"
    code = f"from __future__ import annotations\n{FOUR.sparring.code}\n{main}"
    path = tmp_path / "engine.py"
    rules = f"from __future__ import annotations\n{FOUR.prelude}"  # as a user's may begin
    path.write_text(standalone(code, rules, "x", {"json": "json"}))
    assert any(line.startswith("bestmove") for line in talk(path, "position startpos", "go nodes 5"))


def moves_in(heard: list[str]) -> list[str]:
    return [line.split()[1] for line in heard if line.startswith("bestmove")]


UNREADABLE = {
    "chess": [
        "fen hello",
        "fen 8/8/8/8/8/8/8/8 w - -",
        "fen",
        "startpos moves e2e5",
        "startpos moves e2e4 zz",
        "fen 1 2 3 4",
    ],
    "four": ["startpos moves 8", "startpos moves 1 x", "startpos moves 1 1 1 1 1 1 1", "fen 7/7/7/7/7/7 x"],
}


def test_what_cannot_be_read_is_told_and_the_position_before_stays(exported):
    """A program on the other side sends what its user types: an engine that dies of it loses a game or a session."""
    spec, path = exported
    words = UNREADABLE["chess" if spec is CHESS else "four"]
    first = spec.game.legal(spec.game.initial())[0]
    last = spec.game.legal(spec.game.initial((first,)))
    for said in [*words, "", "nonsense", "moves"]:
        heard = talk(path, f"position startpos moves {first}", f"position {said}", "go nodes 1")
        assert any(line.startswith("info string position is not done: ") for line in heard), (said, heard)
        assert moves_in(heard)[0] in last, said


def test_numbers_of_any_length_are_heard(exported):
    _, path = exported
    nines = "9" * 5000
    heard = talk(
        path, f"setoption name Move Overhead value {nines}", f"go depth 1 wtime {'9' * 18} nodes {nines}", "go depth -1"
    )
    assert len(moves_in(heard)) == 2


def test_an_engine_that_breaks_and_a_game_that_is_over_have_an_answer(tmp_path):
    code = (
        "class E:\n    name = 'breaks'\n    def select_move(self, position, time_left_ms):\n"
        "        if position.moves: position.limit.report(1, 5, 1, ['4'])\n        raise SystemExit('tired')\n"
        "engine = E()\n"
    )
    path = tmp_path / "engine.py"
    path.write_text(standalone(code, FOUR.prelude, "x"))
    four = "1 2 1 2 1 2 1"
    words = ["go", "position startpos moves 1", "go", f"position startpos moves {four}", "go", "isready"]
    heard = talk(path, *words)
    assert moves_in(heard) == ["1", "4", "(none)"] and "readyok" in heard
    assert sum(line.startswith("info string the engine broke") and "tired" in line for line in heard) == 2


@pytest.mark.parametrize("score", ["float('inf')", "float('-inf')", "float('nan')", "10**400"])
def test_a_score_that_is_no_number_of_pawns_keeps_nobody_from_moving(tmp_path, score):
    """The arena passes over such a score; the exported engine said no move, or gave up the one it had found."""
    code = (
        f"class E:\n    score = {score}\n    def select_move(self, position, time_left_ms):\n"
        f"        if position.moves: position.limit.report(1, {score}, 1, ['4'])\n        return '5'\n"
        "engine = E()\n"
    )
    path = tmp_path / "engine.py"
    path.write_text(standalone(code, FOUR.prelude, "x"))
    heard = talk(path, "go", "position startpos moves 1", "go")
    assert moves_in(heard) == ["5", "5"] and not any("broke" in line for line in heard)


def test_a_position_that_is_immutable_indeed_plays_under_uci(tmp_path):
    """A frozen dataclass, as the docs ask for: the arena made its moves, the exported engine none."""
    rules = (
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Position:\n"
        "    moves: tuple = ()\n    limit: object = None\n    to_move = 0\n    legal_moves = ('a', 'b')\n"
        "    def apply(self, move): return Position((*self.moves, move), self.limit)\n"
        "    @classmethod\n    def from_fen(cls, text): return cls((text,))\n"
    )
    path = tmp_path / "engine.py"
    path.write_text(standalone(FOUR.sparring.code, rules, "x"))
    assert len(moves_in(talk(path, "position startpos moves a", "go nodes 5"))) == 1
    space: dict = {}
    exec(f"{rules}\n{SEAT_TEXT}\n{FOUR.sparring.code}", space)
    space["seat"].sit({"nodes": 5})
    assert space["seat"].begun("x").limit.nodes == 5


def test_chess_from_a_fen_without_counters(tmp_path):
    path = tmp_path / "engine.py"
    path.write_text(standalone(CHESS.anchor.code, CHESS.prelude, "x"))
    for counters in ("", " 7"):
        heard = talk(path, f"position fen 7k/8/8/8/8/8/R7/K7 w - -{counters} moves a2a3", "go depth 2")
        assert heard[-1].split()[1] in ("h8g8", "h8g7", "h8h7") and not any("string" in line for line in heard)


def test_chess_from_a_fen_with_an_old_halfmove_clock(tmp_path):
    path = tmp_path / "engine.py"
    path.write_text(standalone(CHESS.anchor.code, CHESS.prelude, "x"))
    heard = talk(path, "position fen 7k/8/8/8/8/8/R7/K7 w - - 60 90 moves a2a3", "go depth 2")
    assert heard[-1].split()[1] in ("h8g8", "h8g7", "h8h7")


def program(tmp_path, body: str):
    path = tmp_path / "uci.py"
    path.write_text(
        "import sys, time\n"
        "def say(t): print(t, flush=True)\n"
        "for line in sys.stdin:\n"
        "    w = line.split()\n"
        "    if w[0] == 'uci': say('option name Hash'); say('uciok')\n"
        "    elif w[0] == 'isready': say('readyok')\n"
        "    elif w[0] == 'position': moves = w[3:]\n"
        f"    elif w[0] == 'go':\n        {body}\n"
    )
    return [sys.executable, str(path)]


def turn(*moves, seconds=2.0, left=(1000, 2000)):
    return Turn(moves, len(moves) % 2, left, seconds)


def test_the_whole_line_and_the_limit_are_sent(tmp_path):
    command = program(tmp_path, "say('info depth 1 score cp -35 nodes 1'); say('bestmove ' + '_'.join(moves + w))")
    player = UciPlayer(command, MoveLimit.parse("clock:1000+50"))
    assert player.move(turn()) == Reply("go_wtime_1000_btime_2000_winc_50_binc_50", -35.0, 1)
    assert player.move(turn("4", "5"))[0].startswith("4_5_go_")
    assert player.move(turn("6", "7"))[0].startswith("4_5_6_7_go_")
    assert "bestmove" in player.close()


@pytest.mark.parametrize(
    ("body", "termination", "failure"),
    [
        ("time.sleep(60)", "time_forfeit", FailureKind.TIME_FORFEIT),
        ("sys.exit(3)", "crash", FailureKind.EXIT),
        ("import os; os.kill(os.getpid(), 9)", "crash", FailureKind.SIGNAL),
        ("say('x' * 9_000_000)", "crash", FailureKind.OUTPUT),
    ],
)
def test_a_uci_program_that_fails_forfeits(tmp_path, body, termination, failure):
    player = UciPlayer(program(tmp_path, body), DEPTH)
    allowed = 0.5 if termination == "time_forfeit" else 60.0  # a busy machine takes its time over nine megabytes
    started = time.perf_counter()
    with pytest.raises(Forfeit) as forfeit:
        player.move(turn(seconds=allowed))
    assert (forfeit.value.termination, forfeit.value.failure) == (termination, failure)
    assert time.perf_counter() - started < 30.0 or termination == "crash"
    player.close()


def test_a_program_that_says_much_on_standard_error_plays_on_and_its_last_line_is_told(tmp_path):
    body = "sys.stderr.write('x' * 1_000_000 + '\\nthe last\\n'); sys.exit(3) if moves else say('bestmove 4')"
    player = UciPlayer(program(tmp_path, body), DEPTH)
    assert player.move(turn(seconds=20.0)).move == "4"
    with pytest.raises(Forfeit, match=r"ended with code 3; the last line of its standard error: the last$"):
        player.move(turn("4", "5", seconds=20.0))
    player.close()


def test_what_is_said_among_much_else_is_heard_at_once(tmp_path):
    """Bytes beyond a read stayed in a buffer of which the selector knows nothing: the move came too late."""
    body = (
        "for n in range(150): os.write(1, b'info string ' + b'x' * (50 + (n * len(moves) * 1237) % 2950) + b'\\n')\n"
        "        os.write(1, b'bestmove 4\\n')"
    )
    player = UciPlayer(program(tmp_path, f"import os\n        {body}"), DEPTH)
    for _ in range(400):
        assert player.move(turn("4")).move == "4"
    player.close()


def test_time_in_which_we_stood_still_is_no_move_time(tmp_path, monkeypatch):
    player = UciPlayer(program(tmp_path, "time.sleep(0.4 if not moves[1:] else 60); say('bestmove 4')"), DEPTH)
    halt_once(monkeypatch, 60.0)
    assert 59 < player.move(turn("4", seconds=20.0)).away < 62
    with pytest.raises(Forfeit, match=r"no bestmove within 0\.3 s"):
        player.move(turn("1", "2", seconds=0.3))


def test_mate_scores_are_far_from_all_others(tmp_path):
    player = UciPlayer(program(tmp_path, "say('info score mate -3'); say('bestmove 4')"), DEPTH)
    assert player.move(turn()) == Reply("4", -99_994.0)
    player.close()


@pytest.mark.parametrize("lacking", ["subprocess.Popen", "selectors.DefaultSelector"])
def test_a_machine_that_is_short_of_something_makes_no_program_lose(monkeypatch, lacking):
    """It had been tried before the first game; with files at their limit it lost the game with its first move. Nor is
    one left that nobody ends.
    """
    begun = []
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: begun.append(1))

    def refused(*_, **__):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(lacking, refused)
    with pytest.raises(JobLost, match=r"^stockfish could not be started: Too many open files$"):
        UciPlayer(["stockfish"], DEPTH)
    assert not begun


def test_what_is_not_a_program_forfeits_its_game(tmp_path):
    plain = tmp_path / "notes.txt"
    plain.write_text("no program")
    plain.chmod(plain.stat().st_mode | stat.S_IXUSR)
    match = Match(
        game=FOUR.entry,
        prelude=FOUR.prelude,
        white=Engine(id="w", command=(str(plain),)),
        black=Engine(id="b", command=(sys.executable, "-c", "pass")),
        limit="depth:1",
    )
    record = play_match(match, None)
    assert (record.result, record.termination, record.loser) == ("0-1", "crash", 0)
