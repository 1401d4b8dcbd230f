"""Tables of the user's own, as the form shows them: whatever lies under their names, it is looked at in no time."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from dashboard.server import own


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "train.csv").write_text('\ufeffid;"a\nb";y\n1;2;3\n', encoding="utf-8")
    return folder


def columns(project: Path) -> list[list[str]]:
    return [table.columns for folder in own.own(project).data for table in folder.tables]


def test_a_pipe_is_not_waited_for(data: Path) -> None:
    """It held a thread of the server for each look at the page, for ever."""
    os.mkfifo(data / "test.csv")
    told: list[list[list[str]]] = []
    look = threading.Thread(target=lambda: told.append(columns(data.parent)), daemon=True)
    look.start()
    look.join(60)
    assert told == [[["id", "a\nb", "y"], []]]


def test_a_line_without_an_end_is_not_read_to_it(data: Path) -> None:
    with (data / "test.csv").open("wb") as file:
        file.truncate(3 * 2**30)  # it takes no place on the disk, and all of the memory that reads it
    assert columns(data.parent) == [["id", "a\nb", "y"], []]


def test_a_table_behind_a_link_is_shown(data: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.csv").write_text("id,a\n1,2\n")
    (data / "test.csv").symlink_to(tmp_path / "elsewhere.csv")
    assert columns(data.parent) == [["id", "a\nb", "y"], ["id", "a"]]


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
def test_a_table_in_another_encoding_has_its_columns(data: Path, encoding: str) -> None:
    """It had none, so that no target could be chosen: the page could not start what the command line reads."""
    rows = "".join(f"{number};Köln;größer;nein\n" for number in range(40))
    (data / "train.csv").write_bytes(f"Kunden-Nr;Ort;Maß;gekündigt\n{rows}".encode(encoding))
    assert columns(data.parent) == [["Kunden-Nr", "Ort", "Maß", "gekündigt"]]
