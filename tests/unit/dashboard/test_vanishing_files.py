"""Files that a run takes away while somebody looks at them are no fault of the server."""

from __future__ import annotations

from pathlib import Path

from dashboard.server.live import live_now
from dashboard.server.routes_results import sized, solution_files


def test_a_run_that_ends_while_we_look_has_no_tails(tmp_path, monkeypatch):
    folder = tmp_path / "live"
    folder.mkdir()
    (folder / f"{'a' * 12}.out").write_text("it prints")
    assert [tail.text for tail in live_now(tmp_path).tails] == ["it prints"]
    listed = Path.iterdir

    def gone(path):
        if path == folder:
            raise FileNotFoundError(path)
        return listed(path)

    monkeypatch.setattr(Path, "iterdir", gone)
    assert live_now(tmp_path).tails == []
    monkeypatch.undo()
    (folder / f"{'a' * 12}.out").unlink()
    folder.rmdir()
    assert live_now(tmp_path).tails == []
    folder.symlink_to(tmp_path)
    assert live_now(tmp_path).tails == []


def test_a_file_of_the_winner_that_is_written_anew_is_left_out(tmp_path):
    top = tmp_path / "best_solution"
    top.mkdir()
    for name in ("engine.py", "games.pgn"):
        (top / name).write_text("x")
    found = solution_files(tmp_path)
    (top / "games.pgn").unlink()
    assert [(one.name, one.bytes) for one in sized(found)] == [("engine.py", 1)]
