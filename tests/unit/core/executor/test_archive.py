"""The archive keeps the best and the newest, whatever the order of commits, and removes all others."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.executor.archive import RunArchive, archive_of, archived_files
from core.executor.workspace import WorkspaceManager

SCORES = st.lists(st.none() | st.floats(-5, 5, allow_nan=False), max_size=12)


def archived(run_dir: Path) -> set[str]:
    return {path.stem for path in run_dir.glob("files/*/*.zip")}


def put(run_dir: Path, node_id: str) -> None:
    path = archive_of(run_dir, node_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"zip")


@given(SCORES, st.integers(0, 3), st.integers(0, 3), st.booleans(), st.integers(0, 12))
def test_the_best_and_the_newest_are_kept(tmp_path_factory, scores, best, newest, lower, restart):
    run_dir = tmp_path_factory.mktemp("run")
    archive = RunArchive(run_dir, best=best, newest=newest, lower_is_better=lower)
    nodes = [(f"n{i}", score) for i, score in enumerate(scores)]
    for i, (node_id, score) in enumerate(nodes):
        if i == restart:  # another process goes on
            archive = RunArchive(run_dir, best=best, newest=newest, lower_is_better=lower)
            archive.restore(nodes[:i])
        put(run_dir, node_id)
        archive.add(node_id, score)
    scored = sorted(((s if lower else -s), i) for i, (_, s) in enumerate(nodes) if s is not None)
    kept = {f"n{i}" for _, i in scored[:best]} | {name for name, _ in nodes[-newest:] if newest}
    assert archived(run_dir) == kept


def test_restore_removes_what_a_killed_process_left(tmp_path):
    for name in "abc":
        put(tmp_path, name)
    (tmp_path / "files" / "a" / "submission").mkdir()
    RunArchive(tmp_path, best=1, newest=0, lower_is_better=True).restore([("a", 2.0), ("b", 1.0), ("c", None)])
    assert archived(tmp_path) == {"b"}
    assert (tmp_path / "files" / "a" / "submission").is_dir() and not (tmp_path / "files" / "c").exists()


def test_an_archive_tells_its_files(tmp_path):
    workspace = WorkspaceManager(tmp_path / "workspace")
    workspace.setup()
    (workspace.working / "model").write_text("weights")
    workspace.archive_node_files("a1", "print(1)", archive_of(tmp_path, "a1").parent)
    told = archived_files(tmp_path, "a1")
    assert [(file["name"], file["bytes"]) for file in told] == [("solution.py", 8), ("working/model", 7)]
    assert archived_files(tmp_path, "none") == []


@pytest.mark.filterwarnings("error")
def test_no_name_that_a_program_chose_stands_for_the_program_or_leads_out_of_the_archive(tmp_path):
    """Cleaned as a whole, `solution.py` with a line break was a second program, the one that is unpacked."""
    workspace = WorkspaceManager(tmp_path / "workspace")
    workspace.setup()
    for name in ("solution.py\n", "SOLUTION.PY", "solution.py. ", "solution.py\v/x", "\n/etc/x", "\n../up", "..\r/up"):
        path = workspace.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("forged")
    for name in ("..\\..\\up", "C:\\x", "model\n", "model"):
        (workspace.working / name).write_text("mine")
    path = workspace.archive_node_files("a1", "print(1)")
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        assert archive.read("solution.py") == b"print(1)" and "model" in archive.comment.decode()
    out = tmp_path / "out"
    assert not [name for name in names if name[0] == "/" or ".." in name.split("/") or {"\\", ":"} & set(name)], names
    shutil.unpack_archive(path, out)
    assert (out / "solution.py").read_text() == "print(1)"
    assert len({name.casefold() for name in names}) == len(names) == 6
