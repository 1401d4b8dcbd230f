"""How fast and how safe the arena plays.

    python benchmarks/arena.py [--games 100] [--python PYTHON] [--written 40] [--runs logs/RUN …] [--json]

Two engines of one ply (the same program text but for the board library) play chess from the same openings in three
ways: sandboxed sessions that are sent only new moves; UCI processes that are sent the whole move list each move, on
rust-chess; and that on python-chess. Under UCI the processes live for the whole match, as cutechess-cli keeps them.
Sessions last, too: each game loads the engines anew in a process that has played before, where the last game left that
as it found it. CPU seconds are those of this process and of all that it started, supervisors and fork server too. The
attacks by which a tier is chosen are made once a boot; they are made before and not counted.

python-chess is not installed with us: `--python` (or SWARM_EVO_CHESS_PYTHON) names an interpreter that has chess and
rust-chess. Without one, what needs it is skipped, and the page says so.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks._arena_engines import CHOOSE, HANG, PYTHON_CHESS, RUST, SESSION, UCI  # noqa: E402
from benchmarks._orphans import adopt, cpu_seconds  # noqa: E402
from core.arena.limit import MoveLimit  # noqa: E402
from core.arena.match import Engine, Match, play_match  # noqa: E402
from core.arena.openings import draw_openings  # noqa: E402
from core.arena.player import SessionPlayer, Turn  # noqa: E402
from core.arena.referee import GameRecord, play_game  # noqa: E402
from core.arena.repertoire import ArenaRules  # noqa: E402
from core.arena.spec import ArenaSettings, ArenaSpec  # noqa: E402
from core.arena.uci import UciPlayer  # noqa: E402
from core.arena.validator import foreign_imports, static_refusal  # noqa: E402
from core.contracts import Sandbox  # noqa: E402
from core.executor.sandbox import open_sandbox  # noqa: E402
from core.storage.reader import RunReader  # noqa: E402
from problems.chess_engines.problem import spec as chess_spec  # noqa: E402
from problems.chess_engines.repertoire import RULES as CHESS_RULES  # noqa: E402
from problems.connect_four.problem import spec as four_spec  # noqa: E402
from problems.connect_four.repertoire import RULES as FOUR_RULES  # noqa: E402

LIMIT = MoveLimit.parse("depth:1")
HERE = sys.executable
BY_PYTHON_CHESS = ROOT / "examples" / "engines" / "chess_alpha_beta_with_python_chess.py"
"""The starting champion in the words of python-chess, for `rules` to change."""


class LastingUci(UciPlayer):
    """A UCI process that plays one game after another."""

    def new_game(self) -> None:
        self._line = []
        self._say("ucinewgame")


class Timed:
    """Notes how long each move takes, as the referee sees it."""

    def __init__(self, player: Any, seconds: list[float]) -> None:
        self._player, self._seconds = player, seconds

    def move(self, turn: Turn) -> tuple[str, float | None]:
        started = time.perf_counter()
        answer = self._player.move(turn)
        self._seconds.append(time.perf_counter() - started)
        return answer

    def close(self) -> str:
        return str(self._player.close())


def report(games: Sequence[GameRecord], cpu: float, wall: float, moves: Sequence[float]) -> dict[str, Any]:
    ordered = sorted(moves)
    return {
        "games": len(games),
        "plies": sum(len(game.moves) for game in games),
        "forfeits": sum(game.loser is not None for game in games),
        "cpu_seconds": round(cpu, 2),
        "games_per_cpu_second": round(len(games) / cpu, 2),
        "games_per_second": round(len(games) / wall, 2),
        "move_ms_p50": round(1000 * ordered[len(ordered) // 2], 3),
        "move_ms_p99": round(1000 * ordered[int(len(ordered) * 0.99)], 3),
    }


def by_sessions(openings: Sequence[tuple[str, ...]]) -> tuple[dict[str, Any], list[GameRecord]]:
    """Two sandboxed sessions a game. The fork server's start is counted too."""
    spec, moves, games = chess_spec(), [], []
    with tempfile.TemporaryDirectory() as folder:
        open_sandbox("auto", state_dir=Path(folder)).close()  # chooses the tier
        before, started = cpu_seconds(), time.perf_counter()
        sandbox = open_sandbox("auto", preload=("rust_chess",), state_dir=Path(folder))
        limits = ArenaSettings(LIMIT).session
        for number, opening in enumerate(openings):
            code = CHOOSE + RUST + SESSION
            players = [
                SessionPlayer(sandbox, code, spec.prelude, limit=LIMIT, limits=limits, seed=number) for _ in range(2)
            ]
            timed = Timed(players[0], moves), Timed(players[1], moves)
            games.append(play_game(spec.game, timed, opening=opening, limit=LIMIT, deadline=10.0))
            for player in players:
                player.close()
        wall = time.perf_counter() - started
        sandbox.close()
    return report(games, cpu_seconds() - before, wall, moves), games


def start_of_sandbox() -> float:
    """CPU seconds that a sandbox costs without any game."""
    with tempfile.TemporaryDirectory() as folder:
        open_sandbox("auto", state_dir=Path(folder)).close()
        before = cpu_seconds()
        sandbox = open_sandbox("auto", preload=("rust_chess",), state_dir=Path(folder))
        sandbox.ready()
        sandbox.close()
        return cpu_seconds() - before


def by_uci(openings: Sequence[tuple[str, ...]], python: str, source: str) -> tuple[dict[str, Any], list[GameRecord]]:
    """Two UCI processes for all games; the whole move list is sent each move."""
    game, moves, games = chess_spec().game, [], []
    before, started = cpu_seconds(), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "engine.py"
        path.write_text(CHOOSE + source + UCI)
        players = [LastingUci([python, str(path)], LIMIT) for _ in range(2)]
        for opening in openings:
            for player in players:
                player.new_game()
            timed = Timed(players[0], moves), Timed(players[1], moves)
            games.append(play_game(game, timed, opening=opening, limit=LIMIT, deadline=10.0))
        for player in players:
            player.close()
    return report(games, cpu_seconds() - before, time.perf_counter() - started, moves), games


def hanging(sandbox: Sandbox, deadline: float = 1.0) -> dict[str, float]:
    """Seconds that a game against an engine that hangs at once takes, median of five."""
    spec = four_spec()
    match = Match(
        game=spec.entry,
        prelude=spec.prelude,
        white=Engine(id="hang", code=HANG + "engine = Hang()\n"),
        black=Engine(id="random", code=spec.sparring.code),
        limit="nodes:10",
        deadline=deadline,
    )
    costs = []
    for _ in range(5):
        started = time.perf_counter()
        assert play_match(match, sandbox).termination == "time_forfeit"
        costs.append(time.perf_counter() - started)
    return {"deadline": deadline, "seconds": round(statistics.median(costs), 3)}


def accepted(count: int, spec: ArenaSpec, rules: ArenaRules, champion: str, python: str) -> str:
    """How many of `count` engines that `rules` make of `champion` pass the check: static checks and a smoke game."""
    passed = 0
    with tempfile.TemporaryDirectory() as folder:
        sandbox = open_sandbox("auto", preload=sorted(spec.packages), python=python, state_dir=Path(folder))
        for seed in range(count):
            context = {"parents": [{"code": champion}], "generation": 1, "slot": seed}
            reply = rules.write(context, random.Random(seed))
            code = reply.partition("```python\n")[2].rpartition("\n```")[0]
            passed += static_refusal(code, spec.packages) is None and _smoke(sandbox, spec, code)
        sandbox.close()
    return f"{passed} of {count}"


def accepted_by_library(count: int, python: str) -> dict[str, str]:
    """Writer, game and board library → the share that the check accepts, or why it was not measured.

    `rules` change the champion they are given, so each library has a champion of its own: the same search twice.
    """
    found = {"rules, connect four, no library": accepted(count, four_spec(), FOUR_RULES, four_spec().anchor.code, HERE)}
    champion = chess_spec().anchor.code
    found["rules, chess, rust-chess"] = accepted(count, chess_spec(), CHESS_RULES, champion, HERE)
    if missing := not_importable(python, "chess", "rust_chess"):
        found["rules, chess, python-chess"] = f"skipped: {missing}"
    else:
        spec = chess_spec(("rust_chess", "chess"))
        found["rules, chess, python-chess"] = accepted(count, spec, CHESS_RULES, BY_PYTHON_CHESS.read_text(), python)
    return found


def accepted_in(run_dirs: Sequence[Path]) -> dict[str, str]:
    """The same of stored runs, by the board library that a written engine imports: first hand-ins and repairs."""
    counts: dict[str, list[int]] = {}
    for run_dir in run_dirs:
        with RunReader(run_dir) as reader:
            for node in reader.journal():
                if node.operator not in ("build", "debug"):
                    continue
                count = counts.setdefault(f"{run_dir.name}, {node.operator}, {libraries_of(node.code)}", [0, 0])
                count[0] += not node.refused_by and node.failure is None
                count[1] += 1
    return {name: f"{passed} of {all_}" for name, (passed, all_) in counts.items()}


def libraries_of(code: str) -> str:
    """The board libraries that an engine's source imports, in words."""
    try:
        names = foreign_imports(code) & {"rust_chess", "chess"}
    except (SyntaxError, ValueError):
        return "does not parse"
    return " and ".join(sorted(names)) or "no library"


def _smoke(sandbox: Sandbox, spec: Any, code: str) -> bool:
    match = Match(
        game=spec.entry,
        prelude=spec.prelude,
        white=Engine(id="new", code=code),
        black=Engine(id="random", code=spec.sparring.code),
        limit="nodes:200",
        deadline=5.0,
    )
    return play_match(match, sandbox).loser != 0


def not_importable(python: str, *modules: str) -> str:
    """'' if the interpreter imports all `modules`, otherwise what to do about it."""
    done = subprocess.run([python, "-I", "-c", f"import {', '.join(modules)}"], capture_output=True, check=False)
    remedy = "give --python an interpreter with chess and rust-chess (pip install chess rust-chess)"
    return "" if done.returncode == 0 else f"{python} cannot import {' and '.join(modules)}; {remedy}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--python", default=os.environ.get("SWARM_EVO_CHESS_PYTHON", HERE), help="has python-chess")
    parser.add_argument("--written", type=int, default=40, help="engines that rules write for the check")
    parser.add_argument("--runs", nargs="*", type=Path, default=[], help="stored runs to count accepted engines of")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    adopt()
    openings = draw_openings(chess_spec().game, args.games, plies=4, seed=1)
    ways: dict[str, Callable[[], tuple[dict[str, Any], list[GameRecord]]]] = {
        "sessions, rust-chess": lambda: by_sessions(openings),
        "uci, rust-chess": lambda: by_uci(openings, sys.executable, RUST),
    }
    found: dict[str, Any] = {}
    if missing := not_importable(args.python, "chess"):
        found["skipped"] = f"uci, python-chess: {missing}"
    else:
        ways["uci, python-chess"] = lambda: by_uci(openings, args.python, PYTHON_CHESS)
    lines = []
    for name, play in ways.items():
        found[name], games = play()
        lines.append([[move.uci for move in game.moves] for game in games])
    found["start_cpu_seconds"] = round(start_of_sandbox(), 2)
    found["same_games"] = all(line == lines[0] for line in lines)
    with tempfile.TemporaryDirectory() as folder:
        sandbox = open_sandbox("auto", preload=("rust_chess",), state_dir=Path(folder))
        found["hanging"] = hanging(sandbox)
        sandbox.close()
    found["accepted"] = accepted_by_library(args.written, args.python) | accepted_in(args.runs)
    print(json.dumps(found, indent=2) if args.json else _table(found))


def _table(found: dict[str, Any]) -> str:
    head = f"{'way':<24}{'games/CPU-s':>12}{'games':>7}{'games/s':>9}{'plies':>7}"
    head += f"{'p50 ms':>9}{'p99 ms':>9}{'forfeits':>10}"
    rows = [head]
    for name, row in found.items():
        if isinstance(row, dict) and "plies" in row:
            rows.append(
                f"{name:<24}{row['games_per_cpu_second']:>12}{row['games']:>7}{row['games_per_second']:>9}{row['plies']:>7}"
                f"{row['move_ms_p50']:>9}{row['move_ms_p99']:>9}{row['forfeits']:>10}"
            )
    if "skipped" in found:
        rows.append(f"skipped: {found['skipped']}")
    rows.append(f"counted with the sessions, once: the start of the sandbox, {found['start_cpu_seconds']} CPU-s")
    rows.append(f"the same games by every way: {'yes' if found['same_games'] else 'NO'}")
    rows.append(f"a hang with a deadline of {found['hanging']['deadline']} s costs {found['hanging']['seconds']} s")
    rows += [f"written and accepted, {name}: {share}" for name, share in found["accepted"].items()]
    return "\n".join(rows)


if __name__ == "__main__":
    main()
