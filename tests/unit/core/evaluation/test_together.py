"""What a sandbox shows when evaluator and candidate share it."""

from __future__ import annotations

from pathlib import Path

from core.evaluation.isolation.together import visible


def files(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_a_folder_of_its_own_is_shown_whole(tmp_path):
    files(tmp_path, "task/evaluator.py", "task/data/a.csv", "state/x")
    assert visible([str(tmp_path / "task")], tmp_path / "state") == [str(tmp_path / "task")]


def test_what_is_private_in_a_projects_folder_is_not_shown(tmp_path):
    files(tmp_path, "evaluator.py", ".env", ".git/config", "data/a.csv", "logs/run-1/run.db", "workspaces/other/x")
    harness = tmp_path / "workspaces" / "sandbox-1" / "evaluators" / "h"
    files(harness, "harness.py")
    shown = visible([str(harness), str(tmp_path)], tmp_path / "workspaces" / "sandbox-1")
    assert shown == [str(harness), str(tmp_path / "data"), str(tmp_path / "evaluator.py")]


def test_what_is_named_is_shown(tmp_path):
    files(tmp_path, "evaluator.py", ".env")
    assert str(tmp_path / ".env") in visible([str(tmp_path), str(tmp_path / ".env")], tmp_path / "state")


def test_a_folder_that_its_owner_alone_may_enter_is_shown_as_what_lies_in_it(tmp_path):
    """As root a program is another user: beside an evaluator in such a folder no program had a score."""
    task = tmp_path / "task"
    (task / "data").mkdir(parents=True)
    (task / "evaluator.py").write_text("")
    (task / "data" / "rows.csv").write_text("")
    task.chmod(0o700)
    shown = [str(task / "data"), str(task / "evaluator.py")]
    assert visible([str(task)], tmp_path / "state") == shown
    (task / "data").chmod(0o750)
    assert sorted(visible([str(task)], tmp_path / "state")) == [str(task / "data" / "rows.csv"), shown[1]]
