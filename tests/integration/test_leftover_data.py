"""Data that was made ready for runs goes with the last run that used it, but for the newest copy of each data set."""

import os
import time
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from problems.competition.problem import CACHE, build
from runs.ending.leftover_data import leftover_data
from runs.run_folder import DB, new_run
from runs.stored.removal import remove_runs
from utils.config import load_config

DAY = 24 * 3600.0


def start(project: Path, rows: int) -> Path:
    """Make a data set of so many rows ready, as a run does that begins on it; its copy."""
    mine = project / "mine"
    mine.mkdir(exist_ok=True)
    lines = ["flat,size,rent", *(f"F{i},{i % 37},{i * 7 % 101}" for i in range(rows))]
    (mine / "train.csv").write_text("\n".join(lines) + "\n")
    os.utime(mine / "train.csv", (rows, rows))
    words = [f"data.dir={mine}", "data.target=rent", "data.metric=mae", f"project.dir={project}"]
    build(load_config(None, words), project).prepare()
    return max((project / CACHE).glob("mine-*"), key=lambda folder: folder.stat().st_mtime)


def aged(path: Path, days: float) -> Path:
    then = time.time() - days * DAY
    os.utime(path, (then, then))
    return path


def run_of(project: Path, name: str, days: float) -> Path:
    run = new_run(project, name, datetime.fromtimestamp(time.time() - days * DAY, UTC))
    (run / DB).touch()
    return run


def test_copies_of_older_data_go_with_the_last_run_that_used_them(tmp_path, inline):
    old, new = start(tmp_path, 120), start(tmp_path, 130)
    assert old != new
    first, second = run_of(tmp_path, "first", 9), run_of(tmp_path, "second", 4)
    aged(old, 8), aged(new, 3)
    assert leftover_data(tmp_path) == []  # the first run used it a day after it began
    told: list[str] = []
    assert remove_runs(str(tmp_path), [first], told.append).data == [old.name]
    assert not old.exists() and new.is_dir()
    assert told[-1].startswith(f"removed data made ready that no run uses any more: {old.name} (")
    assert remove_runs(str(tmp_path), [second], told.append).data == []
    assert new.is_dir()  # the newest stays: the next run on it begins at once


def test_a_copy_that_is_used_again_is_no_leftover(tmp_path, inline):
    old, new = start(tmp_path, 120), start(tmp_path, 130)
    run_of(tmp_path, "one", 2)
    aged(old, 8), aged(new, 7)
    assert leftover_data(tmp_path) == [old]
    assert start(tmp_path, 120) != new and old.stat().st_mtime > time.time() - 60
    assert leftover_data(tmp_path) == [new]  # now the older of the two, by their use
    (run_of(tmp_path, "nobody-knows-when", 1) / "started").write_text("?")
    assert leftover_data(tmp_path) == []


def test_what_a_zip_was_unpacked_to_goes_too_and_what_is_young_stays(tmp_path, inline):
    lines = ["flat,size,rent", *(f"F{i},{i % 37},{i * 7 % 101}" for i in range(120))]
    with zipfile.ZipFile(tmp_path / "set.zip", "w") as archive:
        archive.writestr("train.csv", "\n".join(lines) + "\n")
        archive.writestr("about.txt", "rents\n")
    words = [f"data.dir={tmp_path / 'set.zip'}", "data.target=rent", "data.metric=mae", f"project.dir={tmp_path}"]
    build(load_config(None, words), tmp_path).prepare()
    (unpacked,) = (tmp_path / "workspaces" / ".unpacked").glob("[!.]*")
    assert leftover_data(tmp_path) == []  # a run that begins may be about to read it
    aged(unpacked, 1)
    assert leftover_data(tmp_path) == [unpacked]


def test_links_and_copies_that_are_being_made_are_left_alone(tmp_path, inline):
    start(tmp_path, 120)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / CACHE / "mine-000000000000").symlink_to(tmp_path / "elsewhere")
    making = tmp_path / CACHE / ".mine-111111111111.making-x"
    making.mkdir()
    aged(making, 9), aged(tmp_path / "elsewhere", 9)
    assert leftover_data(tmp_path) == []
