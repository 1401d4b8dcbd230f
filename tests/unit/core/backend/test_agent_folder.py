"""What is read of an agent's folder while the agent may be at work in it."""

from __future__ import annotations

import pytest

from core.backend.agent import folder as agent_folder
from core.backend.agent.folder import Handed, left_behind


@pytest.fixture
def handed(tmp_path):
    place = tmp_path / "folder"
    (place / "src").mkdir(parents=True)
    (place / "src" / "a.py").write_text("x = 2\n")
    (place / "src" / "b.py").write_text("y = 1\n")
    files = {"src/a.py": "x = 1\n", "src/b.py": "y = 1\n"}
    return Handed(place, "", files, ("src/*.py",), frozenset())


def test_what_was_changed_and_deleted(handed):
    (handed.folder / "src" / "b.py").unlink()
    assert left_behind(handed) == ({"src/a.py": "x = 2\n", "src/b.py": None}, "")


def test_a_folder_that_is_swapped_for_a_link_between_look_and_read_shows_nothing_else(handed, monkeypatch, tmp_path):
    """It was read by its path, and gave the text of whatever the link led to by then."""
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("a.py", "b.py"):
        (outside / name).write_text("secret\n")

    def found_first(name, patterns):
        if not (handed.folder / "src").is_symlink():
            (handed.folder / "src").rename(handed.folder / "aside")
            (handed.folder / "src").symlink_to(outside)
        return name.startswith("src/")

    monkeypatch.setattr(agent_folder, "matches", found_first)
    files, fault = left_behind(handed)
    assert (files, fault) == ({"src/a.py": "x = 2\n"}, "")


def test_what_a_link_leads_to_is_neither_there_nor_gone(handed, tmp_path):
    (handed.folder / "src").rename(handed.folder / "aside")
    (handed.folder / "src").symlink_to(tmp_path)
    assert left_behind(handed) == ({}, "src/a.py is no regular file")


@pytest.mark.parametrize("files", [{"src/a.py": "x = 1\n", "src/b.py": "y = 1\n"}, {}])
def test_files_that_are_named_one_by_one_are_no_single_program(handed, files):
    """A list of patterns that is the list of files was read as one file, and broke the call, or the run."""
    listed = Handed(handed.folder, "", files, tuple(files), frozenset())
    assert left_behind(listed) == ({"src/a.py": "x = 2\n"} if files else {}, "")
