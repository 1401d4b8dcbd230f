"""Files of a folder that a stranger filled."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from utils.regular_files import copy_regular, end_of, read_regular, regular_handle, write_regular


@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "device"])
def test_what_is_no_regular_file_is_neither_read_nor_waited_for(tmp_path, kind):
    path = tmp_path / "one"
    make = {
        "pipe": lambda: os.mkfifo(path),
        "link": lambda: path.symlink_to("/etc/hostname"),
        "folder": path.mkdir,
        "device": lambda: path.symlink_to("/dev/zero"),
    }
    make[kind]()
    with pytest.raises(OSError):
        read_regular(path, 10)
    with pytest.raises(OSError):
        end_of(path, 10)
    with pytest.raises(OSError):
        regular_handle(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def test_no_more_is_read_than_is_wanted(tmp_path):
    path = tmp_path / "one"
    path.write_text("0123456789")
    assert read_regular(path, 10) == "0123456789" and end_of(path, 3) == (b"789", 10)
    with pytest.raises(ValueError, match="larger than 9 bytes"):
        read_regular(path, 9)


def test_a_copy_can_be_run_where_its_source_can_and_grants_no_other_right(tmp_path):
    (tmp_path / "one").write_text("x")
    for mode, runs in ((0o640, False), (0o777, True), (0o6755, True)):
        (tmp_path / "one").chmod(mode)
        (tmp_path / "plain").write_text("")
        copied = copy_regular(tmp_path / "one", tmp_path / f"copy {mode}").stat().st_mode & 0o7777
        assert copied == (tmp_path / "plain").stat().st_mode & 0o7777 | (0o100 if runs else 0)


def test_a_write_that_fails_leaves_nothing_behind(tmp_path):
    (tmp_path / "taken" / "inside").mkdir(parents=True)
    with pytest.raises(OSError):
        write_regular(tmp_path, "taken", "text")
    assert sorted(os.listdir(tmp_path)) == ["taken"]


@pytest.mark.parametrize("lead", [Path.symlink_to, Path.hardlink_to])
def test_what_is_copied_onto_itself_by_another_name_stays(tmp_path, lead):
    """`export-best --out DIR` with a link there to the run's own file left both empty."""
    (tmp_path / "solution.py").write_text("x = 1")
    lead(tmp_path / "linked.py", tmp_path / "solution.py")
    assert copy_regular(tmp_path / "solution.py", tmp_path / "linked.py").read_text() == "x = 1"
