"""What lies below a folder in which somebody untrusted may still be writing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.executor.workspace import remove_tree
from utils.folder_entries import DEEPEST, entries, is_there
from utils.regular_files import read_regular, regular_files


@pytest.fixture
def nested(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """A folder with so much below folders of that name that no path says it, removed as pytest could not."""
    top = tmp_path / "nested"

    def make(name: str) -> Path:
        top.mkdir()
        handle = os.open(top, os.O_RDONLY)
        for _ in range(1500):
            os.mkdir(name, dir_fd=handle)
            inner = os.open(name, os.O_RDONLY, dir_fd=handle)
            os.close(handle)
            handle = inner
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=handle))
        os.close(handle)
        return top

    yield make
    remove_tree(top)


def test_files_come_in_the_order_of_names_and_caches_do_not(tmp_path):
    for name in ("b", "a/c", "a/b/x", "__pycache__/m.pyc", "z"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "link").symlink_to("/usr")
    os.mkfifo(tmp_path / "pipe")
    assert [file.path for file in regular_files(tmp_path)] == ["b", "z", "a/c", "a/b/x"]


def test_a_folder_that_becomes_a_link_leads_nowhere(tmp_path):
    """Whoever writes there may swap them at any moment: before a folder is entered, and before a file is read."""
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    for place in (folder / "a", folder / "b", outside):
        place.mkdir(parents=True)
        (place / "text").write_text("secret" if place is outside else "own")

    def swap(name: str) -> None:
        (folder / name).rename(folder / f"{name}-aside")
        (folder / name).symlink_to(outside)

    read = []
    for file in regular_files(folder):
        if file.path == "a/text":
            swap("a")
            swap("b")
        read.append((file.path, read_regular(file.name, 100, file.parent)))
    assert read == [("a/text", "own")]


@pytest.mark.parametrize("name", ["d", "d" * 50], ids=["more levels than Python recurses", "longer than any path"])
def test_what_lies_too_deep_is_told_as_such(nested, name):
    found = list(entries(nested(name)))
    assert len(found) == DEEPEST + 1 and [entry.is_too_deep for entry in found].count(True) == 1


def test_a_folder_that_is_not_there_holds_nothing(tmp_path):
    assert list(entries(tmp_path / "gone")) == [] and not is_there(tmp_path / "gone", "a")


def test_whether_something_is_there_is_not_asked_elsewhere(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("/usr")
    (tmp_path / "a" / "broken").symlink_to("nowhere")
    assert is_there(tmp_path, "a/broken") and is_there(tmp_path, "file") and is_there(tmp_path, "link/bin")
    assert is_there(tmp_path, "link/no-such-thing"), "that it is not there would be said of another folder"
    assert not is_there(tmp_path, "a/none") and not is_there(tmp_path, "none/file")
