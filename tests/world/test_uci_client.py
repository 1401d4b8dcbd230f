"""An exported champion under a UCI program that is not ours: python-chess's engine client, in an environment apart."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.command_line import Cli
from support.python_chess import WITHOUT, chess_python

CLIENT = Path(__file__).resolve().parents[2] / "examples" / "uci_games.py"
SMALL = ["arena.openings=1", "arena.gauntlet=2", "arena.limit=nodes:60", "search.max_generations=1"]
pytestmark = pytest.mark.skipif(chess_python() is None, reason=WITHOUT)


@pytest.fixture(scope="module")
def champion(tmp_path_factory):
    """What `export-best` writes after a search without a key."""
    cli = Cli(tmp_path_factory.mktemp("champion"))
    ended = cli("run", "--problem", "chess_engines", *SMALL, timeout=180)
    assert ended.code == 0, ended.err
    exported = cli("export-best", "latest", "--out", "champion")
    assert exported.code == 0, exported.err
    yield cli.folder / "champion" / "engine.py"
    cli.close()


def games(engine: Path, *words: str) -> subprocess.CompletedProcess[str]:
    python = chess_python()
    assert python is not None
    line = [python, str(CLIENT), str(engine), *words]
    return subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("limit", ["nodes:60", "clock:3000+30"])
def test_the_exported_champion_finishes_20_games_without_a_forfeit(champion, limit):
    done = games(champion, "--games", "20", "--limit", limit)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "20 games" in done.stdout and "forfeits: 0 of the engine" in done.stdout


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return 'e2e5'", "illegal"),
        ("import os\n        os._exit(1)", "EngineTerminatedError"),
        ("import time\n        time.sleep(1)\n        return position.legal_moves[0]", "out of time"),
    ],
)
def test_the_client_sees_a_forfeit(champion, tmp_path, body, said):
    """The check above would fail for an engine that misbehaves."""
    done = games(with_engine(champion, body, tmp_path), "--games", "1", "--limit", "movetime:100")
    assert done.returncode == 1 and "forfeits: 1 of the engine" in done.stdout and said in done.stdout, done.stdout


def test_an_engine_that_breaks_plays_on(champion, tmp_path):
    done = games(with_engine(champion, "raise ValueError", tmp_path), "--games", "1", "--limit", "movetime:100")
    assert done.returncode == 0 and "forfeits: 0 of the engine" in done.stdout, done.stdout


def with_engine(champion: Path, body: str, folder: Path) -> Path:
    """The champion's file with another engine behind its loop."""
    head = "class Other:\n    name = 'other'\n    def select_move(self, position, time_left_ms):\n        "
    path = folder / "other.py"
    mark = "# ---------------------------------------------------------------- UCI"
    path.write_text(champion.read_text().replace(mark, f"{head}{body}\n\nengine = Other()\n"))
    return path
