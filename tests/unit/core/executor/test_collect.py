"""The trusted reader of what an enemy wrote."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from core.executor.collect import collect_file, collect_folder
from core.executor.workspace import WorkspaceManager, remove_tree

NAME = "submission/submission.csv"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    workspace = tmp_path / "w"
    (workspace / "submission").mkdir(parents=True)
    (tmp_path / "labels").write_text("secret")
    return workspace


def test_a_plain_file_is_taken(root: Path) -> None:
    (root / NAME).write_bytes(b"id,y\n1,2\n")
    assert collect_file(root, NAME, 100).data == b"id,y\n1,2\n"


def _folder_link(root: Path) -> None:
    (root / "submission").rmdir()
    (root / "submission").symlink_to(root.parent)
    (root.parent / "submission.csv").write_text("x")


def _socket(root: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / NAME))


TRICKS: dict[str, Callable[[Path], object]] = {
    "missing": lambda root: None,
    "link": lambda root: (root / NAME).symlink_to(root.parent / "labels"),
    "folder_link": _folder_link,
    "hard_link": lambda root: os.link(root.parent / "labels", root / NAME),
    "fifo": lambda root: os.mkfifo(root / NAME),
    "socket": _socket,
    "folder": lambda root: (root / NAME).mkdir(),
    "too_large": lambda root: (root / NAME).write_bytes(bytes(101)),
    "sparse": lambda root: os.truncate(os.open(root / NAME, os.O_CREAT | os.O_WRONLY), 8 << 40),
}


@pytest.mark.parametrize("trick", TRICKS)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_nothing_else_is_taken(trick: str, root: Path) -> None:
    TRICKS[trick](root)
    taken = collect_file(root, NAME, 100)
    assert taken.data is None and taken.reason


def test_a_small_cap_of_holes_is_not_taken_for_data(root: Path) -> None:
    with (root / NAME).open("wb") as file:
        file.truncate(50 << 20)
    assert "holes" in collect_file(root, NAME, 64 << 20).reason


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../labels", "submission/../../labels", "a\0b"])
def test_paths_that_leave_are_refused(path: str, root: Path) -> None:
    assert collect_file(root, path, 100).data is None


def test_a_tree_of_any_depth_and_modes_is_removed(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    (tmp_path / "kept").write_text("x")
    here = os.open(top, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d" * 40, dir_fd=here)
        inner = os.open("d" * 40, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.symlink(tmp_path / "kept", "link", dir_fd=here)
    os.close(here)
    (top / "closed").mkdir()
    (top / "closed" / "file").write_text("x")
    (top / "closed").chmod(0)
    for number in range(3):
        (top / f".lifted-{number}" / "not ours").mkdir(parents=True)
    remove_tree(top)
    assert not top.exists() and (tmp_path / "kept").exists()


def test_a_workspace_has_the_seeds_methods(tmp_path: Path) -> None:
    manager = WorkspaceManager(tmp_path / "abc123")
    manager.setup()
    data = tmp_path / "data"
    data.mkdir()
    (data / "train.csv").write_text("a")
    manager.link_input_data(data)
    assert (manager.input / "train.csv").read_text() == "a" and manager.linked_input() == data
    (manager.submission / "submission.csv").write_text("x")
    (manager.working / "link").symlink_to(data)
    archive = manager.archive_node_files("abc123", "print(1)")
    import zipfile

    assert sorted(zipfile.ZipFile(archive).namelist()) == ["solution.py", "submission/submission.csv"]
    manager.cleanup_submission()
    manager.cleanup_working()
    assert list(manager.submission.iterdir()) == list(manager.working.iterdir()) == []
    manager.remove()
    assert not manager.root.exists() and (data / "train.csv").exists()


def test_submission_paths_are_rewritten_in_the_code(tmp_path: Path) -> None:
    manager = WorkspaceManager(tmp_path)
    code = "a('submission/submission.csv'); b(\"./submission/x\"); c('my_submission.csv'); d('submission')"
    told = manager.rewrite_submission_path(code, "n1")
    assert (
        told == "a('submission/n1/submission.csv'); b(\"submission/n1/x\"); c('my_submission.csv'); d('submission/n1')"
    )


def test_paths_longer_than_the_system_takes_are_passed_over(tmp_path):
    """Folders in folders that were made from inside: looking at what lies at their end ended the run."""
    manager = WorkspaceManager(tmp_path / "run")
    manager.setup()
    (manager.root / "made.txt").write_text("x")
    here = os.getcwd()
    try:
        os.chdir(manager.working)
        for _ in range((4080 - len(str(manager.working))) // 241):  # the folder can be listed, its file not be named
            os.mkdir("d" * 240)
            os.chdir("d" * 240)
        Path("f" * 255).write_text("deep")
    finally:
        os.chdir(here)
    assert "made.txt" in manager.written()
    remove_tree(manager.root)


def test_of_a_folder_every_plain_file_is_taken_or_none(tmp_path, monkeypatch):
    place = tmp_path / "out" / "of" / "it"
    (place / "deep").mkdir(parents=True)
    (place / "a").write_bytes(b"12")
    (place / "deep" / "b").write_bytes(b"345")
    os.symlink("/etc/hostname", place / "link")
    os.mkfifo(place / "pipe")
    assert collect_folder(tmp_path, "out/of/it", 5).files == {"a": b"12", "deep/b": b"345"}
    assert "more than the 4 bytes" in collect_folder(tmp_path, "out/of/it", 4).reason
    os.link(place / "a", place / "again")
    assert "2 names" in collect_folder(tmp_path, "out/of/it", 100).reason
    (place / "again").unlink()
    monkeypatch.setattr("core.executor.collect.MOST_FILES", 1)
    assert collect_folder(tmp_path, "out/of/it", 100).reason == "more than the 1 files that are taken"
    monkeypatch.undo()
    os.symlink("out", tmp_path / "led")
    for name in ("led/of/it", "/etc", "../x", ".", "out/of/it/link", "out/none"):
        assert collect_folder(tmp_path, name, 100).files is None, name
    os.mkdir(os.fsencode(place) + b"/\xff")
    (place / "a").unlink()
    with open(os.fsencode(place) + b"/\xff/c", "w") as file:
        file.write("x")
    assert "is not taken" in collect_folder(tmp_path, "out/of/it", 100).reason
