"""Games through the real sandbox: every way to misbehave is a loss at once, and costs what was promised."""

from __future__ import annotations

import shutil

import pytest
from support.timing import fastest

from cli.parser import main
from core.arena.match import Engine, Match, play_match
from core.arena.tournament import ENTRY
from core.contracts import JobSpec
from core.executor.sandbox import open_sandbox
from core.state.failure import FailureKind
from core.workers.node_folder import NodeFolder
from core.workers.shipping import land, pack_folder, serve
from problems.chess_engines.problem import spec as chess_spec
from problems.connect_four.problem import spec as four_spec
from problems.registry import build_problem
from utils.config import load_config

SOUND = four_spec().sparring.code


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory):
    opened = open_sandbox("auto", preload=("rust_chess",), state_dir=tmp_path_factory.mktemp("sandbox"))
    opened.ready()
    yield opened
    opened.close()


def engine(body: str, head: str = "") -> str:
    lines = "\n".join("        " + line for line in body.splitlines())
    return (
        f"{head}\nclass E:\n    name = 'x'\n    def select_move(self, position, time_left_ms):\n{lines}\nengine = E()\n"
    )


def play(sandbox, white, black=SOUND, spec=None, **changes):
    spec = spec or four_spec()
    match = Match(
        game=spec.entry,
        prelude=spec.prelude,
        white=Engine(id="w", code=white),
        black=Engine(id="b", code=black),
        **{"limit": "nodes:50", "deadline": 20.0, "seed": 1, **changes},
    )
    return play_match(match, sandbox)


@pytest.mark.parametrize(
    ("code", "termination", "failure"),
    [
        (engine("raise ValueError('lost my way')"), "crash", FailureKind.RUNTIME),
        (engine("import os\nos._exit(0)"), "crash", FailureKind.EXIT),
        (engine("import os\nos.kill(os.getpid(), 11)"), "crash", FailureKind.SIGNAL),
        (engine("print('x' * 10_000_000)\nreturn '4'"), "crash", FailureKind.OUTPUT),
        (
            engine("self.x = bytearray(2 << 30)\nfor i in range(0, 2 << 30, 4096): self.x[i] = 1\nreturn '4'"),
            "crash",
            FailureKind.MEMORY,
        ),
        (
            engine("import threading, time\nthreading.Thread(target=time.sleep, args=(5,)).start()\nreturn '4'"),
            "crash",
            FailureKind.PROCESSES,
        ),
        (engine("return '9'"), "illegal_move", FailureKind.ILLEGAL_MOVE),
        (engine("return '4'", "raise SystemExit"), "crash", FailureKind.EXIT),
        ("import no_such_module", "crash", FailureKind.RUNTIME),
    ],
)
def test_misbehaviour_is_a_loss(sandbox, code, termination, failure):
    record = play(sandbox, code)
    assert (record.result, record.termination, record.loser) == ("0-1", termination, 0), record.message
    assert record.failure is failure, record.message


@pytest.mark.long
@pytest.mark.parametrize(
    "body", ["while True: pass", "import time\ntime.sleep(60)", "import signal, os\nos.kill(os.getpid(), 19)"]
)
def test_a_hang_costs_its_budget_and_at_most_a_fifth_of_a_second(sandbox, body):
    play(sandbox, SOUND)  # slots are warm

    def hang() -> None:
        record = play(sandbox, engine(body), deadline=0.5)
        assert (record.termination, record.failure) == ("time_forfeit", FailureKind.TIME_FORFEIT)

    assert 0.5 <= fastest(hang, 0.7) < 0.7


def test_a_clock_runs_out(sandbox):
    record = play(sandbox, engine("import time\ntime.sleep(0.9)\nreturn position.legal_moves[0]"), limit="clock:3000+0")
    assert (record.result, record.termination) == ("0-1", "time_forfeit")
    assert 1 <= len([move for move in record.moves if move.ply % 2]) <= 3
    left = [move.clock[0] for move in record.moves]
    assert left == sorted(left, reverse=True)


def test_same_seed_same_game(sandbox):
    games = [play(sandbox, SOUND, seed=seed) for seed in (5, 5, 6)]
    lines = [[move.uci for move in game.moves] for game in games]
    assert lines[0] == lines[1] != lines[2]


HOARDS = """
import functools, os, random, threading
games, book = 0, []
random.seed(random.random() + len(book))
class E:
    name, seen = "hoards", {}
    def __init__(self):
        global games
        games += 1
        print("game", games, "in process", vars(threading.main_thread()).setdefault("name of it", os.urandom(8)))
    def select_move(self, position, time_left_ms):
        E.seen[position.moves] = len(book)
        book.append(position)
        Position.known = getattr(Position, "known", 0) + 1
        return random.choice(position.legal_moves[: 1 + spread(Position.known + len(E.seen) + len(book)) % 7])
@functools.lru_cache
def spread(number): return number + len(book) + random.randrange(3)
engine = E()
"""


def test_a_game_is_the_same_whatever_its_process_played_before(sandbox):
    spec, line = four_spec(), [("4",), ("1", "2"), ()]
    hoards, fresh = HOARDS, HOARDS + "# another program, so another process\n"
    expected = [play(sandbox, HOARDS + f"# {number}", opening=opening, seed=3) for number, opening in enumerate(line)]
    games = [play(sandbox, hoards, opening=line[number % 3], seed=3) for number in range(6)]
    assert len({game.output[0] for game in games}) == 1, "another process, or what an earlier game printed"
    assert games[0].output[0].startswith("game 1 in process") and len(games[0].output[0].splitlines()) == 1
    for number, game in enumerate(games):
        assert [move.uci for move in game.moves] == [move.uci for move in expected[number % 3].moves]
    both = play(sandbox, hoards, fresh, spec=spec, seed=3), play(sandbox, hoards, fresh, spec=spec, seed=3)
    assert [move.uci for move in both[0].moves] == [move.uci for move in both[1].moves]


TAKES_OVER = """
import builtins, sys

class E:
    name = "takes over"
    def select_move(self, position, time_left_ms):
        frame = sys._getframe()
        while frame is not None:
            names = frame.f_globals
            if "_answer" in names:
                names["_answer"] = lambda module, data: b'{"answers":[["9",99999,1]]}'
                names["_load"] = lambda *_: names["_write"](b'{"ready":true}')
                names["lasting"].Found.is_left = lambda self: True
            frame = frame.f_back
        builtins.callable = lambda x: True
        Position.legal_moves = ["9"]
        Seat.move = lambda self, moves, left: ["9", 99999, 1]
        globals()["seat"] = None
        return "1"

engine = E()
"""


def test_an_engine_that_takes_over_its_process_wins_nothing_by_it(sandbox):
    before = [move.uci for move in play(sandbox, SOUND, seed=9).moves]
    for _ in range(3):  # the second time it does not even load, but say that it did
        record = play(sandbox, TAKES_OVER)
        assert (record.result, record.loser) == ("0-1", 0), record.message
        assert all(move.uci != "9" for move in record.moves)
    assert [move.uci for move in play(sandbox, SOUND, seed=9).moves] == before


PONDERS = """
import signal

ticks = 0

def think(*_):
    global ticks
    ticks += 1

class E:
    name = "ponders"
    def select_move(self, position, time_left_ms):
        signal.setitimer(signal.ITIMER_REAL, 0)
        if ticks > 9:  # one or two a move before it is stopped; awake it would think 15 times a move
            raise RuntimeError(f"thought {ticks} times while the other was to move")
        signal.signal(signal.SIGALRM, think)
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        return position.legal_moves[0]

engine = E()
"""


def test_no_engine_thinks_while_the_other_is_to_move(sandbox):
    slow = engine("import time\ntime.sleep(0.15)\nreturn position.legal_moves[-1]")
    record = play(sandbox, PONDERS, slow)
    assert record.loser is None and record.termination == "four_in_a_row", record.message


def test_an_engine_that_waits_is_stopped_and_still_ends_with_its_game(sandbox):
    record = play(
        sandbox, SOUND, engine("if len(position.moves) > 4: raise KeyError(1)\nreturn position.legal_moves[0]")
    )
    assert (record.loser, record.failure) == (1, FailureKind.RUNTIME)


def test_an_engine_cannot_reach_the_board(sandbox):
    """What it does to its own copy of the rules changes nothing at the referee's table."""
    code = engine("Position.legal_moves = ['9']\nseat.position = None\nreturn '4'")
    record = play(sandbox, code)
    assert record.result == "0-1" and record.moves[0].uci == "4" and record.moves[0].fen == "7/7/7/7/7/3x3 o"


def test_chess_from_an_opening_to_the_end(sandbox):
    spec = chess_spec()
    record = play(sandbox, spec.anchor.code, spec.sparring.code, spec=spec, opening=("e2e4", "e7e5"))
    assert record.loser is None and record.termination in (
        "checkmate",
        "stalemate",
        "repetition",
        "fifty_moves",
        "insufficient_material",
        "length",
    )
    assert record.moves[0].ply == 1 and record.start.endswith("w KQkq - 0 2")


def test_a_users_game_is_played_where_only_what_was_sent_of_it_is(sandbox, tmp_path):
    """A worker elsewhere told that it had no module of the name that the user's file has here."""
    assert main(["init", "pawn_race", "--game", f"--out={tmp_path / 'made'}"]) == 0
    config = load_config(overrides=[], presets={"problem": str(tmp_path / "made" / "pawn_race.yaml"), "llm": "rules"})
    spec = build_problem(config).spec
    engines = {"white": Engine(id="w", code=spec.anchor.code), "black": Engine(id="b", code=spec.sparring.code)}
    match = Match(game=spec.entry, inputs=str(spec.inputs), prelude=spec.prelude, limit="nodes:50", **engines)
    job = JobSpec(entry=ENTRY, payload=match.model_dump(mode="json"))
    name, packed = pack_folder(spec.inputs)
    shutil.rmtree(tmp_path / "made")
    sent = NodeFolder(tmp_path / "node").inputs(name, lambda: packed)
    (*_, answer) = serve(job.model_dump_json(), sent, sandbox, tmp_path / "worker")
    played = land(answer, job)["value"]
    assert (played["loser"], played["termination"], played["result"]) == (None, "breakthrough", "1-0")
