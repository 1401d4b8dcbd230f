"""A ticket's folder: what is laid there comes back as it then lies."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from runs.tickets.folder import TICKET, left_behind, read_folder, write_folder
from runs.tickets.words import COMMAND_LINE
from utils.errors import ConfigError

ASKED = {
    "ticket": "n1.t1",
    "editable": ["src/**"],
    "files": {"src/a.py": "a\n", "src/b.py": "b\n", "src/c.py": "c\n", "tests/t.py": "t\n"},
    "prompt": {"system": "", "user": "Improve it."},
}


RUN = Path("/my project/logs/run-1")


def test_the_commands_of_a_task_hold_in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent that works there found neither our program nor the run."""
    monkeypatch.setattr(sys, "argv", ["main.py"])
    monkeypatch.setattr(sys, "orig_argv", ["venv/bin/python", "main.py", "ask"])
    write_folder(tmp_path, ASKED, RUN, COMMAND_LINE)
    task = (tmp_path / "TASK.md").read_text()
    here, place = Path.cwd(), "--project.dir='/my project'"
    assert f"`{here}/venv/bin/python {here}/main.py check run-1 n1.t1 --dir {tmp_path} {place}`" in task
    assert f'main.py tell run-1 n1.t1 --dir {tmp_path} {place} --plan "…"`' in task


def test_files_of_the_users_own_stay_and_a_ticket_gives_way_to_a_ticket(tmp_path: Path) -> None:
    """`ask --dir .` beside the program that the search began with wrote a ticket's over it."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("my own\n")
    (tmp_path / "src" / "b.py").write_text("b\n")
    with pytest.raises(
        ConfigError, match=r"as src/a.py is of no ticket; .*ask run-1 n1.t1 --project.dir=.* --dir OTHER"
    ):
        write_folder(tmp_path, ASKED, RUN, COMMAND_LINE)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.py", "b.py", "src"]
    assert (tmp_path / "src" / "a.py").read_text() == "my own\n"
    (tmp_path / "src" / "a.py").unlink()
    write_folder(tmp_path, ASKED, RUN, COMMAND_LINE)
    (tmp_path / "src" / "a.py").write_text("what was written for it\n")
    write_folder(tmp_path, {**ASKED, "ticket": "n2.t2"}, RUN, COMMAND_LINE)
    assert (tmp_path / "src" / "a.py").read_text() == "a\n"


@pytest.mark.parametrize("inside", [".", "best_solution", "../run-2/files"])
def test_a_runs_own_folder_takes_no_ticket(tmp_path: Path, inside: str) -> None:
    """A client of MCP that named `best_solution/` made the run one whose files were changed."""
    run = tmp_path / "logs" / "run-1"
    folder = run / inside
    with pytest.raises(ConfigError, match="the runs' own; the ticket stays open"):
        write_folder(folder, ASKED, run, COMMAND_LINE)
    assert not folder.exists()


@pytest.mark.parametrize("kind", ["link", "another name"])
def test_a_name_of_a_file_that_lies_elsewhere_too_gives_way_and_the_file_stays(tmp_path: Path, kind: str) -> None:
    (tmp_path / "theirs").write_text("theirs\n")
    folder = tmp_path / "ticket"
    (folder / "src").mkdir(parents=True)
    (os.symlink if kind == "link" else os.link)(tmp_path / "theirs", folder / "src" / "a.py")
    write_folder(folder, ASKED, RUN, COMMAND_LINE)
    assert (folder / "src" / "a.py").read_text() == "a\n" and not (folder / "src" / "a.py").is_symlink()
    assert (tmp_path / "theirs").read_text() == "theirs\n"


def test_a_pipe_in_place_of_the_tickets_file_keeps_nobody_waiting(tmp_path):
    os.mkfifo(tmp_path / TICKET)
    (tmp_path / "program.py").write_text("x = 1\n")
    assert read_folder(tmp_path) == {"program.py": "x = 1\n"}


def test_a_file_that_is_gone_is_deleted_and_what_was_never_there_is_not(tmp_path: Path) -> None:
    write_folder(tmp_path, ASKED, RUN, COMMAND_LINE)
    assert read_folder(tmp_path) == {"src/a.py": "a\n", "src/b.py": "b\n", "src/c.py": "c\n"}
    (tmp_path / "src/b.py").unlink()
    (tmp_path / "tests/t.py").unlink()
    (tmp_path / "src/c.py").write_text("other\n")
    (tmp_path / "src/new.py").write_text("new\n")
    assert read_folder(tmp_path) == {"src/a.py": "a\n", "src/b.py": None, "src/c.py": "other\n", "src/new.py": "new\n"}


def test_a_locked_file_that_was_changed_is_told(tmp_path: Path) -> None:
    """It was passed over, and its writer believed that it had been handed in."""
    asked = {**ASKED, "files": {**ASKED["files"], "c.json": "{}\r\n", "d.md": "d"}}
    write_folder(tmp_path, asked, RUN, COMMAND_LINE)
    (tmp_path / "src/a.py").write_text("other\n")
    assert left_behind(tmp_path) == []
    (tmp_path / "tests/t.py").write_text("other\n")
    (tmp_path / "c.json").unlink()
    (said,) = left_behind(tmp_path)
    assert "tests/t.py, c.json; what does is src/**" in said and "d.md" not in said


def test_a_file_that_its_writer_made_beside_the_tickets_is_told(tmp_path: Path) -> None:
    """A program that imports it failed where it ran, and nobody said why."""
    write_folder(tmp_path, ASKED, RUN, COMMAND_LINE)
    for name in ("src/new.py", ".git/HEAD", "src/.cache/x", "helper.py", "tests/more.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("mine")
    (said,) = left_behind(tmp_path)
    assert said.startswith("new in your folder") and said.endswith(
        "it does not come back: helper.py, tests/more.py; what does is src/**"
    )


def test_the_folder_of_an_older_version_or_of_ones_own_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("x = 1\n")
    assert left_behind(tmp_path) == []
    for about in ('{"ticket": "t", "editable": ["src/**"], "laid": []}', '{"editable": [], "stays": 7}', "[" * 9999,
                  '{"editable": ["program.py"], "stays": {"../../etc/passwd": "0", "/etc/passwd": "0"}}'):  # fmt: skip
        (tmp_path / TICKET).write_text(about)
        assert left_behind(tmp_path) == []


def test_what_tools_leave_beside_the_files_is_nobodys_program(tmp_path: Path) -> None:
    """A writer that ran its tests in the folder was refused for the bytes of a cache."""
    ends = {**ASKED, "files": {"src/a b.py": "a\r\nb\r\n"}}
    write_folder(tmp_path, ends, RUN, COMMAND_LINE)
    for name in ("src/__pycache__/a.pyc", "src/.pytest_cache/v/x", "src/deep/.DS_Store"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"\xcb\x0d\x0d\x0a")
    assert read_folder(tmp_path) == {"src/a b.py": "a\r\nb\r\n"}


def test_a_ticket_is_laid_into_its_folder_and_through_no_link_out_of_it(tmp_path: Path) -> None:
    """A writer that shares the folder, and no more, with whoever lays it out had files of the user's written anew: with
    a program that it had handed in before.
    """
    profile, other, work = tmp_path / "profile", tmp_path / "other", tmp_path / "work"
    profile.write_text("mine")
    other.mkdir()
    (work / "src").mkdir(parents=True)
    (work / "src" / "a.py").symlink_to(profile)
    (work / "TASK.md").hardlink_to(profile)
    os.mkfifo(work / "src" / "b.py")
    (work / TICKET).symlink_to(tmp_path / "nowhere")
    write_folder(work, ASKED, RUN, COMMAND_LINE)
    assert profile.read_text() == "mine" and not (tmp_path / "nowhere").exists()
    assert read_folder(work) == {"src/a.py": "a\n", "src/b.py": "b\n", "src/c.py": "c\n"}
    assert sorted(path.name for path in work.iterdir()) == [TICKET, "TASK.md", "src", "tests"]
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "src").symlink_to(other)
    with pytest.raises(ConfigError, match="second: cannot be written"):
        write_folder(tmp_path / "second", ASKED, RUN, COMMAND_LINE)
    assert not list(other.iterdir())
    (tmp_path / "third").symlink_to(other)
    write_folder(tmp_path / "third", ASKED, RUN, COMMAND_LINE)
    assert (other / "src" / "a.py").read_text() == "a\n", "the folder itself is where its user has it"
