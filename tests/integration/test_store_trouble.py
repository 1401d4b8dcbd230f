"""A store that cannot be written: locked by another process, or on a read-only disk. One line, and nothing is lost."""

from __future__ import annotations

import ctypes
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from support.command_line import ROOT, Cli
from support.processes import eventually

from core.storage.reader import RunReader

STEPS = 30
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1


def steps(cli: Cli) -> int:
    if not cli.runs:
        return 0
    with RunReader(cli.run_dir) as reader:
        return reader.steps()


def locked(cli: Cli) -> sqlite3.Connection:
    """The write lock of the run's store, taken by this process."""
    connection = sqlite3.connect(cli.run_dir / "run.db", timeout=20, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    return connection


@pytest.mark.long
def test_a_store_that_stays_locked_ends_the_run_in_one_line_and_it_can_be_resumed(cli_at, toy):
    words = toy(STEPS, seconds=0.2)
    cli = cli_at("locked")
    child = cli.start(*words, SWARM_EVO_BUSY_SECONDS="0.5")
    eventually(lambda: (cli.folder / "logs").exists() and cli.runs and (cli.run_dir / "metrics.json").exists(), 60)
    eventually(lambda: steps(cli) >= 2, 60)
    with closing(locked(cli)):
        _, err = child.communicate(timeout=240)
        stored = steps(cli)
    assert child.returncode == 1 and "Traceback" not in err, err
    last = err.strip().splitlines()[-1]
    assert "run.db" in last and "locked" in last
    assert 2 <= stored < STEPS
    ended = cli.here("resume", "latest")
    assert ended.code == 0, ended.err
    whole = cli_at("whole")
    assert whole.here(*words).code == 0
    assert cli.show()["journal_sha256"] == whole.show()["journal_sha256"]


@pytest.mark.long
def test_a_store_that_is_locked_for_a_moment_is_waited_for(cli, toy):
    child = cli.start(*toy(30, seconds=0.2))  # so long that it is locked before the last step
    eventually(lambda: cli.runs and (cli.run_dir / "metrics.json").exists(), 60)
    with closing(locked(cli)):
        time.sleep(1.5)
        assert child.poll() is None
    _, err = child.communicate(timeout=240)
    assert child.returncode == 0, err
    assert cli.show()["steps"] == 30


@pytest.fixture
def archived(cli, finished):
    """A finished run in a folder that cannot be written."""
    folder = cli.folder
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o555 if path.is_dir() else 0o444)
    yield cli
    for path in [folder, *folder.rglob("*")]:
        if path.is_dir():
            path.chmod(0o755)


def read_only(cli: Cli, *words: str) -> subprocess.CompletedProcess[str]:
    """The command without root's right to write what is write-protected."""

    def no_override() -> None:
        if os.geteuid() == 0:
            ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)

    return subprocess.run(
        [sys.executable, str(ROOT / "main.py"), *words], cwd=cli.folder, env={**os.environ, **cli.environment},
        capture_output=True, text=True, timeout=240, preexec_fn=no_override, check=False,
    )  # fmt: skip


@pytest.mark.long
def test_a_read_only_store_can_be_read(archived, tmp_path_factory):
    run = archived.run_dir.name
    for words in (("show", "latest"), ("list-runs",)):
        done = read_only(archived, *words)
        assert done.returncode == 0 and run in done.stdout, done.stderr
    out = tmp_path_factory.mktemp("out")
    done = read_only(archived, "export-best", "latest", "--out", str(out))
    assert done.returncode == 0 and (out / "solution.py").is_file(), done.stderr


@pytest.mark.long
@pytest.mark.parametrize("words", [("resume", "latest", "search.max_steps=9"), ("step", "latest")])
def test_a_read_only_store_is_refused_in_one_line(archived, words):
    done = read_only(archived, *words)
    assert done.returncode == 2, done.stdout + done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert archived.run_dir.name in line and "not written" in line


@pytest.mark.long
def test_a_killed_run_that_was_copied_without_its_lock_and_index_is_whole(cli, toy, tmp_path):
    """What lies in the write-ahead log belongs to the run: copy the folder, and nothing is missing."""
    assert cli(*toy(6), SWARM_EVO_FAULT="after:commit:2").code < 0
    copy = tmp_path / "copy"
    shutil.copytree(cli.folder / "logs", copy / "logs", ignore=shutil.ignore_patterns("*-shm", "run.lock"))
    there = Cli(Path(copy))
    assert steps(there) == steps(cli) > 0
    assert there.here("resume", "latest").code == 2, "it names a plug-in folder, and did not begin there"
    assert there.here("resume", "latest", "--i-trust-this-run").code == 0 and steps(there) == 6


def test_a_run_whose_folder_is_removed_ends_at_its_next_step(cli, toy):
    child = cli.start(*toy(2000, seconds=0.1))
    eventually(lambda: (cli.folder / "logs").exists() and cli.runs and (cli.run_dir / "metrics.json").exists(), 60)
    eventually(lambda: steps(cli) >= 2, 60)
    gone = cli.run_dir.rename(cli.folder / "gone")  # at once: the run goes on writing while files are removed
    shutil.rmtree(gone, ignore_errors=True)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 1 and "Traceback" not in err, err
    assert "run.db' was removed or moved" in err.strip().splitlines()[-1]
