"""Runs as folders: names, the newest, the lock."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import subprocess
from datetime import UTC, datetime, timedelta

import pytest

from cli.parser import main
from core.storage.held import is_held, is_holder, lock_holder
from core.storage.run_names import may_be_run
from dashboard.server.catalog import RunCatalog
from dashboard.server.control import stop_gracefully
from runs import run_folder
from runs.machine import check_folder
from runs.run_folder import all_runs, find_run, hold, left_hidden, left_out, new_run
from utils.config_schema import Config
from utils.errors import RunBusyError, StoreError, UnknownRunError
from utils.logger_system import close, configure

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def made(folder, prefix, now):
    run = new_run(folder, prefix, now)
    (run / "run.db").touch()
    return run


def test_names_are_plain_and_unique(tmp_path):
    names = [made(tmp_path, "a b/../c:ü", NOW).name for _ in range(3)]
    assert names == ["a-b-c-20260102-030405", "a-b-c-20260102-030405-2", "a-b-c-20260102-030405-3"]
    assert made(tmp_path, "///", NOW).name.startswith("run-")


@pytest.mark.parametrize("prefix", ["_mine", "__init__", "x" * 300, "-x-", "9", "ü" * 200])
def test_a_run_is_found_by_the_name_that_it_was_given(tmp_path, prefix):
    run = made(tmp_path, prefix, NOW)
    made(tmp_path, prefix, NOW)
    assert may_be_run(run.name) and find_run(tmp_path, run.name) == run
    assert all_runs(tmp_path) == RunCatalog(tmp_path).folders()


def test_a_copy_by_a_file_manager_is_no_run_and_told_how_to_be_one(tmp_path):
    run = made(tmp_path, "a", NOW)
    copy = run.with_name(f"{run.name} (copy)")
    shutil.copytree(run, copy)
    (copy / "started").write_text("2027-01-01")  # begun last
    (told,) = left_out(tmp_path).values()
    assert told.startswith(f"run '{copy.name}' is left out: ") and told.endswith("; rename its folder")
    with pytest.raises(UnknownRunError, match=re.escape(told)):
        find_run(tmp_path, copy.name)
    assert all_runs(tmp_path) == RunCatalog(tmp_path).folders() == [run] and find_run(tmp_path, "latest") == run
    copy.rename(run.with_name("copy"))
    assert not left_out(tmp_path) and find_run(tmp_path, "latest").name == "copy"


def test_a_link_is_a_run_to_all_or_to_nobody(tmp_path):
    """A run that was moved to a larger disk was in the list and not on the page; a link that came with a stranger's
    files led into another project of the user's."""
    run, secret = made(tmp_path, "a", NOW), made(tmp_path / "other", "secret", NOW)
    moved = tmp_path / "larger" / run.name
    moved.parent.mkdir()
    run.rename(moved)
    run.symlink_to(moved)
    link = run.with_name("theirs")
    link.symlink_to(secret)
    run.with_name("nowhere").symlink_to(tmp_path / "nowhere")
    catalog = RunCatalog(tmp_path)
    assert all_runs(tmp_path) == catalog.folders() == [run]
    assert find_run(tmp_path, run.name) == find_run(tmp_path, "latest") == catalog.run_dir(run.name) == run
    assert list(left_out(tmp_path)) == ["theirs"]
    with pytest.raises(UnknownRunError, match=f"is left out: it is a link to a folder called '{secret.name}'"):
        find_run(tmp_path, "theirs")
    with pytest.raises(UnknownRunError):
        catalog.run_dir("theirs")


def test_latest_is_the_one_started_last(tmp_path):
    """By the clock it was one of before, where that had been set back."""
    made(tmp_path, "zzz", NOW)
    made(tmp_path, "theirs", NOW).joinpath("started").write_text("~ no time")
    for hours in (1, -1, -2):  # the clock is set back twice
        run = made(tmp_path, "aaa", NOW + timedelta(hours=hours))
        assert find_run(tmp_path, "latest") == run
        close(configure(run))
        assert (tmp_path / "logs" / "system.log").resolve().parent == run
    for far in (datetime.max, datetime(9000, 1, 1)):
        made(tmp_path, "far", NOW).joinpath("started").write_text(far.isoformat())
    run = made(tmp_path, "aaa", NOW)
    assert find_run(tmp_path, "latest") == run, "no clock told that"


@pytest.mark.parametrize("name", ["..", "../x", "/etc", "", "a/b", "x" * 200, "-rf", ".hidden"])
def test_a_name_is_never_a_path(tmp_path, name):
    made(tmp_path, "a", NOW)
    with pytest.raises(UnknownRunError, match="a-20260102"):
        find_run(tmp_path, name)


def test_who_gives_the_path_of_a_run_is_told_its_name_and_where_it_can_be_read(tmp_path):
    run, here = made(tmp_path / "there", "a", NOW), tmp_path / "here"
    with pytest.raises(UnknownRunError, match=rf"not its path: {run.name} --project.dir={tmp_path}/there$"):
        find_run(here, str(run))
    with pytest.raises(UnknownRunError, match=rf"not its path: {run.name}$"):
        find_run(tmp_path / "there", f"{run}/")
    moved = run.rename(tmp_path / "moved")
    with pytest.raises(UnknownRunError, match=rf"not its path: moved, once it lies in '{here}/logs'$"):
        find_run(here, str(moved))


def test_folders_without_a_store_are_no_runs(tmp_path):
    new_run(tmp_path, "empty", NOW)
    (tmp_path / "logs" / "README.md").write_text("stands in a fresh clone")
    assert all_runs(tmp_path) == [] and all_runs(tmp_path / "nowhere") == []
    with pytest.raises(UnknownRunError, match="no runs"):
        find_run(tmp_path, "latest")


def test_a_hidden_run_is_no_run_and_what_a_killed_process_left_is_found(tmp_path):
    """Of a `replay --verify` that was killed, or went on beside, the copy was `latest`, and `resume` took it up."""
    run = made(tmp_path, "a", NOW)
    hidden = [new_run(tmp_path, "verify-a", NOW, hidden=True) for _ in range(3)]
    for copy in hidden:
        (copy / "run.db").touch()
    assert all_runs(tmp_path) == [run] and find_run(tmp_path, "latest") == run and left_out(tmp_path) == {}
    with hold(hidden[0]):
        assert list(left_hidden(tmp_path, "verify")) == [], "they may be just beginning"
        for copy in hidden[:2]:
            os.utime(copy / "started", (1, 1))
        assert list(left_hidden(tmp_path, "another")) == []
        for found in left_hidden(tmp_path, "verify"):
            assert found == hidden[1] and is_held(found)
            shutil.rmtree(found)
    assert hidden[0].is_dir() and hidden[2].is_dir() and not hidden[1].exists()


def test_who_stands_inside_of_a_project_is_told_where_its_runs_are(tmp_path):
    """The folder that `ask --dir` filled, or that `init` wrote: "no runs" was all that was said there."""
    made(tmp_path, "a", NOW)
    with pytest.raises(
        UnknownRunError, match=rf"no runs in '{tmp_path}/work/logs' \(there are some in '{tmp_path}'\); s"
    ):
        find_run(tmp_path / "work", "latest")


def test_one_process_holds_a_run(tmp_path):
    run = made(tmp_path, "a", NOW)
    assert not is_held(run)
    with hold(run):
        assert is_held(run)
        with pytest.raises(RunBusyError, match=r"pid \d+"), hold(run):
            pass
    assert not is_held(run)
    with (run / "run.lock").open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert is_held(run)


def test_only_the_process_that_holds_a_run_is_told_to_stop(tmp_path):
    """The number in its lock may be that of a process in another container: here another program had it."""
    run = made(tmp_path, "a", NOW)
    with hold(run), subprocess.Popen(["sleep", "60"]) as other:
        assert is_holder(os.getpid(), run / "run.lock")
        (run / "run.lock").write_text(str(other.pid))
        stop_gracefully(run, lock_holder(run / "run.lock"))
        assert other.poll() is None and (run / "control.jsonl").read_text() == '{"kind": "stop"}\n'
        other.kill()


def test_who_waits_for_a_run_that_is_being_removed_holds_nothing(tmp_path, monkeypatch):
    """Its lock was on a file that is gone: a `resume` began a run of nothing in its place."""
    run = new_run(tmp_path, "a", NOW)
    monkeypatch.setattr(run_folder, "_lock", lambda file: shutil.rmtree(run))
    with pytest.raises(UnknownRunError, match="was removed"), hold(run):
        pass
    assert not run.exists()


def test_a_run_is_held_until_it_is_gone(tmp_path, monkeypatch):
    """Between the look and the removal another process could take it up."""
    run, usual, seen = new_run(tmp_path, "a", NOW), shutil.rmtree, []
    (run / "run.db").touch()
    monkeypatch.setattr(
        "runs.stored.removal.shutil.rmtree", lambda path, **more: seen.append(is_held(run)) or usual(path, **more)
    )
    assert main(["rm", run.name, "--yes", f"--project.dir={tmp_path}"]) == 0
    assert seen[0] is True and not run.exists()


def test_a_pipe_instead_of_the_start_is_not_waited_for(tmp_path):
    run = made(tmp_path, "aaa", NOW)
    (run / "started").unlink()
    os.mkfifo(run / "started")
    assert find_run(tmp_path, "latest").name == run.name


def test_a_disk_that_has_no_locks_is_not_taken_for_another_process(tmp_path, monkeypatch):
    """As on some network file systems: a process (`pid unknown`) was said to hold the run, and was to be stopped."""
    run = new_run(tmp_path, "a", NOW)

    def none(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", none)
    with pytest.raises(StoreError, match="No locks available") as raised, hold(run):
        pass
    assert not isinstance(raised.value, RunBusyError) and raised.value.exit_code == 2
    check = check_folder(Config.model_validate({"project": {"dir": str(tmp_path)}}))
    assert not check.ok and "No locks available" in check.detail, "`doctor` called such a place fit"


@pytest.mark.parametrize(("number", "code"), [(errno.EACCES, 2), (errno.EROFS, 2), (errno.ENOSPC, 1)])
def test_a_run_that_cannot_be_written_is_refused_before_anything_runs(tmp_path, monkeypatch, number, code):
    def refuse(*arguments):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(run_folder, "regular_handle", refuse)
    with pytest.raises(StoreError, match="can be read, not written") as raised, hold(tmp_path):
        pass
    assert raised.value.exit_code == code


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files that are another's")
def test_what_root_writes_into_a_users_run_is_the_users(tmp_path):
    """That user's next resume was refused its metrics.json. A link, and a file with another name, may be anybody's."""
    run, user = new_run(tmp_path, "a", NOW), 23456
    os.chown(run, user, user)
    (tmp_path / "of root").write_text("secret")
    with hold(run):
        (run / "files").mkdir()
        (run / "files" / "metrics.json").write_text("[]")
        (run / "link").symlink_to(tmp_path / "of root")
        (run / "name").hardlink_to(tmp_path / "of root")
    given = {path.name: path.lstat().st_uid for path in (run, *run.rglob("*"), tmp_path / "of root")}
    assert {name for name, owner in given.items() if owner == 0} == {"link", "name", "of root"}
    assert given["metrics.json"] == given["files"] == user
