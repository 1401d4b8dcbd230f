"""How much of the disk a folder of somebody untrusted takes."""

from __future__ import annotations

import os
from pathlib import Path

from core.executor.workspace import remove_tree
from utils.folder_size import Disk, holds_more


def test_what_lies_at_any_depth_counts(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "big").write_bytes(os.urandom(3 << 20))
    assert holds_more(tmp_path, 2) and not holds_more(tmp_path, 4)


def test_a_hole_takes_nothing_and_a_link_is_not_followed(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(50 << 20)
    (tmp_path / "out").symlink_to("/usr")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    assert not holds_more(tmp_path, 1)


def test_empty_files_are_bounded_too(tmp_path: Path) -> None:
    for number in range(2100):
        (tmp_path / str(number)).touch()
    assert holds_more(tmp_path, 1)


def test_a_folder_that_was_closed_is_opened_again(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    (closed / "big").write_bytes(os.urandom(2 << 20))
    closed.chmod(0)
    assert holds_more(tmp_path, 1)


def test_what_lies_deeper_than_a_path_can_say_is_too_much(tmp_path: Path) -> None:
    """Nobody could count it, and it was passed over: a writer could fill the disk there."""
    handle = os.open(tmp_path, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d" * 50, dir_fd=handle)
        inner = os.open("d" * 50, os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    big = os.open("big", os.O_CREAT | os.O_WRONLY, dir_fd=handle)
    os.write(big, os.urandom(3 << 20))
    for descriptor in (big, handle):
        os.close(descriptor)
    assert holds_more(tmp_path, 2)
    remove_tree(tmp_path / ("d" * 50))  # pytest could not


def test_a_disk_whose_folder_is_gone_is_not_short(tmp_path: Path) -> None:
    """Who watches a writer may look once more after its folder was removed: a traceback stood in the terminal."""
    folder = tmp_path / "gone"
    folder.mkdir()
    disk = Disk(folder)
    folder.rmdir()
    assert not disk.is_short
