"""What a stranger's store may name as files of the solution: nothing outside of its folder is copied."""

from __future__ import annotations

import hashlib
import json
import os
import stat

import pytest

from core.state.node import Node
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from runs.ending.export_place import lay_out
from runs.proof.bundle import _solution
from runs.recorded.files import BEST, DETAIL, FILES, file_hash, solution_files
from runs.stored.solution import stored_solution

NODE = Node(id="n1", code="x = 1\n", metric_value=1.0)


def solution(run_dir, *more: str):
    """The stored solution of a run whose store names these files besides its own."""
    folder = run_dir / BEST
    (folder / "deep").mkdir(parents=True)
    (run_dir / "evil.py").write_text("mine")
    (folder / "link.py").symlink_to(run_dir / "evil.py")
    (folder / "solution.py").write_text(NODE.code)
    (folder / DETAIL).write_text(json.dumps({"id": NODE.id}))
    store = RunStore(run_dir)
    names = [f"{BEST}/solution.py", f"{BEST}/{DETAIL}", *more]
    hashes = {name: hashlib.sha256((run_dir / name).read_bytes()).hexdigest() for name in names}
    assert hashes[names[0]] == file_hash(folder / "solution.py")
    store.put_fact(FILES, {"hashes": hashes, "seq": 1})
    store.close()
    with RunReader(run_dir) as reader:
        return stored_solution(reader, NODE)


def recorded_again(run_dir, *names: str) -> None:
    """The store names what lies there now, or these names, as a stranger's may."""
    store = RunStore(run_dir)
    files = names or sorted(
        path.relative_to(run_dir).as_posix()
        for path in (run_dir / BEST).rglob("*")
        if path.is_file() and not path.is_symlink()
    )
    store.put_fact(FILES, {"hashes": {name: _hash(run_dir / name) for name in files}, "seq": 2})
    store.close()


def _hash(path) -> str:
    return file_hash(path) if path.is_file() else ""


def test_the_files_of_the_solution_are_copied(tmp_path):
    found = solution(tmp_path / "run")
    assert sorted(path.name for path in lay_out(found.files, found.folder, tmp_path / "out")) == [DETAIL, "solution.py"]


@pytest.mark.parametrize("name", [f"{BEST}/../evil.py", f"{BEST}/deep/../../evil.py", f"{BEST}/link.py"])
def test_a_name_that_leads_elsewhere_is_no_file_of_it(tmp_path, name):
    assert solution(tmp_path / "run", name).files == ()


def test_a_pipe_is_no_file_and_is_not_waited_for(tmp_path):
    solution(tmp_path / "run")
    (tmp_path / "run" / BEST / "solution.py").unlink()
    os.mkfifo(tmp_path / "run" / BEST / "solution.py")
    with RunReader(tmp_path / "run") as reader:
        assert stored_solution(reader, NODE).files == ()


def test_a_description_of_brackets_in_brackets_is_none(tmp_path):
    solution(tmp_path / "run")
    (tmp_path / "run" / BEST / DETAIL).write_text("[" * 200_000)
    recorded_again(tmp_path / "run")
    with RunReader(tmp_path / "run") as reader:
        assert stored_solution(reader, NODE).files == ()


def test_what_git_would_run_is_no_file_of_it(tmp_path):
    solution(tmp_path / "run")
    hook = tmp_path / "run" / BEST / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(parents=True)
    hook.write_text("echo owned")
    recorded_again(tmp_path / "run")
    with RunReader(tmp_path / "run") as reader:
        assert stored_solution(reader, NODE).files == ()


def test_rights_of_an_owner_are_not_handed_on(tmp_path):
    found = solution(tmp_path / "run")
    (tmp_path / "run" / BEST / "solution.py").chmod(0o6777)
    (written,) = (path for path in lay_out(found.files, found.folder, tmp_path / "out") if path.name == "solution.py")
    assert written.stat().st_mode & 0o7022 == 0 and written.stat().st_mode & stat.S_IXUSR


@pytest.mark.parametrize("name", [f"{BEST}/d/../../evil.py", f"{BEST}/d/../../../run/evil.py"])
def test_no_name_leads_a_bundle_out_of_its_folder(tmp_path, name):
    run_dir = tmp_path / "run"
    solution(run_dir)
    (run_dir / "a" / "b").mkdir(parents=True)
    (run_dir / BEST / "d").symlink_to(run_dir / "a" / "b")
    (run_dir / "a" / "evil.py").write_text("theirs")
    recorded_again(run_dir, name if (run_dir / name).is_file() else f"{BEST}/solution.py", name)
    with RunReader(run_dir) as reader:
        assert solution_files(reader) == {}


def test_what_a_link_leads_to_goes_into_no_bundle(tmp_path):
    run_dir = tmp_path / "run"
    solution(run_dir)
    (tmp_path / "key").write_text("secret")
    (run_dir / BEST / "link.py").unlink()
    (run_dir / BEST / "link.py").symlink_to(tmp_path / "key")
    store = RunStore(run_dir)
    store.put_fact(FILES, {"hashes": {f"{BEST}/link.py": "link"}, "seq": 2})
    store.close()
    with RunReader(run_dir) as reader:
        written = _solution(reader, tmp_path / "bundle")
    assert written == [] and not (tmp_path / "bundle").exists()
