"""What a stranger's store may name as files of the solution: nothing outside of its folder is copied."""

from __future__ import annotations

import hashlib
import json

import pytest

from core.state.node import Node
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from runs.outcome import DETAIL
from runs.recorded_files import BEST, FILES, file_hash
from runs.stored_solution import stored_solution

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


def test_the_files_of_the_solution_are_copied(tmp_path):
    found = solution(tmp_path / "run")
    assert sorted(path.name for path in found.copy(tmp_path / "out")) == [DETAIL, "solution.py"]


@pytest.mark.parametrize("name", [f"{BEST}/../evil.py", f"{BEST}/deep/../../evil.py", f"{BEST}/link.py"])
def test_a_name_that_leads_elsewhere_is_no_file_of_it(tmp_path, name):
    assert solution(tmp_path / "run", name).files == ()
