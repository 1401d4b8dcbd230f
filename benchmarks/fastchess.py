"""Exported chess engines under fastchess: what they forfeit, how deep they look, and who is the stronger.

    python -m benchmarks.fastchess [ENGINE [OPPONENT]] [--games 40] [--tc 3+0.05] [--elo 1350] [--json]

ENGINE and OPPONENT are files that `export-best` wrote or UCI commands. Without them the starting champion plays a
Debian Stockfish that is held at `--elo`. fastchess (github.com/Disservin/fastchess, MIT; `make -C app`) is looked for
by SWARM_EVO_FASTCHESS, then on the path; without it, nothing is measured and the page says so. Openings are the ones
that the arena draws, each played with both colours. Elo is fastchess's logistic one, by pairs, with its 95 % interval.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from core.arena.export import standalone
from core.arena.openings import draw_openings
from core.arena.standings import FORFEITS
from problems.chess_engines.problem import spec
from utils.stats import PENTANOMIAL, elo_estimate, pair_counts

VARIABLE = "SWARM_EVO_FASTCHESS"
OPENING_PLIES = 6
STOCKFISH = ("option.UCI_LimitStrength=true", "option.Move Overhead=300")
"""On a busy machine a process waits for a tenth of a second: with its own 10 ms it loses most games on time."""
_COMMENT = re.compile(r"\{[^}]*?/(\d+)[ ,][^}]*\}")
_TAG = re.compile(r'^\[(\w+) "(.*)"\]$', re.MULTILINE)


def fastchess() -> str | None:
    """Path of the program, or None."""
    return os.environ.get(VARIABLE) or shutil.which("fastchess")


def stockfish() -> str | None:
    return shutil.which("stockfish") or shutil.which("stockfish", path="/usr/games")


def book(path: Path, count: int, seed: int) -> None:
    """`count` openings that no short search calls decided, as PGN."""
    game = spec().game
    texts = []
    for line in draw_openings(game, count, plies=OPENING_PLIES, seed=seed):
        state, words = game.initial(), []
        for ply, move in enumerate(line):
            words += [f"{ply // 2 + 1}."] * (ply % 2 == 0) + [game.san(state, move)]
            state = game.apply(state, move)
        texts.append(f'[Result "*"]\n\n{" ".join(words)} *\n')
    path.write_text("\n".join(texts), encoding="utf-8")


def engine_words(name: str, command: str, options: Sequence[str] = ()) -> list[str]:
    """fastchess's words for one engine; a .py file is started by this interpreter."""
    program, *rest = [sys.executable, str(Path(command).resolve())] if command.endswith(".py") else shlex.split(command)
    told = [f"args={shlex.join(rest)}"] if rest else []
    return ["-engine", f"cmd={program}", *told, f"name={name}", *options]


def play(words: Sequence[str], games: int, tc: str, folder: Path, seed: int) -> str:
    """The PGN of a match; the program's own last report goes to stderr."""
    program = fastchess()
    assert program is not None
    book(folder / "book.pgn", max(1, games // 2), seed)
    pgn = folder / "games.pgn"
    line = [program, *words, "-each", f"tc={tc}", "proto=uci", "-rounds", str(max(1, games // 2)), "-repeat"]
    line += ["-openings", f"file={folder / 'book.pgn'}", "format=pgn", "order=sequential", "-concurrency", "1"]
    line += ["-pgnout", f"file={pgn}", "-recover", "-ratinginterval", "0"]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    if not pgn.is_file():
        raise SystemExit(f"fastchess played nothing:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    warnings = [line for line in done.stdout.splitlines() if line.startswith("Warning")]
    print("\n".join([*done.stdout.splitlines()[-12:], *warnings[:5], f"{len(warnings)} warnings"]), file=sys.stderr)
    return pgn.read_text(encoding="utf-8")


def summary(pgn: str, names: tuple[str, str]) -> dict[str, object]:
    """What the games say of the first engine."""
    points: dict[str, list[float]] = {}
    forfeits = {name: dict.fromkeys((*FORFEITS, "other"), 0) for name in names}
    depths: dict[str, list[int]] = {name: [] for name in names}
    counts = {"won": 0, "drawn": 0, "lost": 0}
    for text in re.split(r"\n\n(?=\[Event )", pgn.strip()):
        head, _, moves = text.partition("\n\n")
        tags = dict(_TAG.findall(head))
        white = tags["White"] == names[0]
        value = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}.get(tags["Result"])
        if value is None:
            continue
        value = value if white else 1 - value
        counts["won" if value == 1 else "lost" if value == 0 else "drawn"] += 1
        points.setdefault(tags["Round"].partition(".")[0], []).append(value)
        if (kind := _forfeit(tags.get("Termination", "normal"), moves)) is not None:
            forfeits[names[0] if value == 0 else names[1]][kind] += 1
        for index, found in enumerate(_COMMENT.finditer(moves)):
            first = tags.get("FEN", " w ").split()[1:2] != ["b"]
            side = 0 if (index % 2 == 0) == first else 1
            depths[names[0] if (side == 0) == white else names[1]].append(int(found[1]))
    pairs = pair_counts([(pair[0], pair[1]) for pair in points.values() if len(pair) == 2])
    estimate = elo_estimate(pairs, PENTANOMIAL)
    return {
        "games": sum(counts.values()),
        **counts,
        "elo": round(estimate.elo, 1),
        "low": round(estimate.low, 1),
        "high": round(estimate.high, 1),
        "depth": {name: statistics.median(each) if each else None for name, each in depths.items()},
        "forfeits": {name: {k: n for k, n in each.items() if n} for name, each in forfeits.items()},
    }


def _forfeit(termination: str, moves: str) -> str | None:
    """Why a game did not end by the rules, in the arena's words; None where it did."""
    if termination in ("normal", "adjudication"):
        return None
    words = f"{termination} {moves[-200:]}".lower()
    if "illegal" in words:
        return "illegal_move"
    return "time_forfeit" if "time" in words else "crash" if "disconnect" in words or "abandon" in words else "other"


def main() -> None:
    parser = argparse.ArgumentParser(description="Exported chess engines under fastchess.")
    parser.add_argument("engine", nargs="?")
    parser.add_argument("opponent", nargs="?")
    parser.add_argument("--games", type=int, default=40)
    parser.add_argument("--tc", default="3+0.05")
    parser.add_argument("--elo", type=int, default=1350)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pgn", type=Path)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rival = args.opponent or stockfish()
    if fastchess() is None or rival is None:
        missing = f"fastchess (point {VARIABLE} to it)" if fastchess() is None else "stockfish"
        print(f"skipped: no {missing}")
        return
    with tempfile.TemporaryDirectory(prefix="swarm-fastchess-") as name:
        folder = Path(name)
        engine = args.engine or str(folder / "start.py")
        if args.engine is None:
            Path(engine).write_text(standalone(spec().anchor.code, spec().prelude, "the starting champion"))
        limited = [] if args.opponent else [f"option.UCI_Elo={args.elo}", *STOCKFISH]
        other = "opponent" if args.opponent else f"stockfish-{args.elo}"
        words = engine_words("engine", engine) + engine_words(other, rival, limited)
        pgn = play(words, args.games, args.tc, folder, args.seed)
    if args.pgn:
        args.pgn.write_text(pgn, encoding="utf-8")
    found = summary(pgn, ("engine", other))
    if args.json:
        print(json.dumps(found, indent=2))
        return
    print(f"{found['games']} games at {args.tc}: {found['won']} won, {found['drawn']} drawn, {found['lost']} lost")
    print(f"Elo over {other}: {found['elo']:+} (95 % {found['low']:+} to {found['high']:+})")
    print(f"median depth: {found['depth']}")
    print(f"forfeits: {found['forfeits']}")


if __name__ == "__main__":
    main()
