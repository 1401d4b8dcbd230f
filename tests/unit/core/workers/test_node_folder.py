"""Workers of one machine: inputs are unpacked once for all, and nothing is left of those that are dead."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from core.workers import node_folder
from core.workers.node_folder import NodeFolder
from utils.scratch_folders import hold

WORK = """
import sys, time
from pathlib import Path
from core.workers.node_folder import NodeFolder
from core.workers.shipping import pack_folder

root, source = map(Path, sys.argv[1:])
node = NodeFolder(root)
print(node.worker("s"), flush=True)
sys.stdin.readline()

def packed():
    print("asked", flush=True)
    time.sleep(0.3)
    return pack_folder(source)[1]

print(node.inputs("data", packed), flush=True)
time.sleep(60)
"""


def started(root: Path, source: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WORK, str(root), str(source)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        cwd=Path(__file__).resolve().parents[4],
    )  # fmt: skip


def end(worker: subprocess.Popen[str]) -> None:
    worker.kill()
    worker.communicate()


def test_inputs_are_unpacked_once_and_the_dead_leave_nothing(tmp_path):
    source, root = tmp_path / "source", tmp_path / "node"
    source.mkdir()
    (source / "train.csv").write_text("a,b\n1,2\n")
    workers = [started(root, source) for _ in range(3)]
    folders = [Path(worker.stdout.readline().strip()) for worker in workers]
    assert len(set(folders)) == 3 and all(folder.is_dir() for folder in folders)
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    said = [worker.stdout.readline().strip() for worker in workers]
    said += [worker.stdout.readline().strip() for worker, first in zip(workers, said, strict=True) if first == "asked"]
    assert said.count("asked") == 1 and said.count(str(root / "inputs-data")) == 3
    assert (root / "inputs-data" / "train.csv").read_text() == "a,b\n1,2\n"
    for worker in workers[:2]:
        end(worker)
    NodeFolder(root).leave("another run")
    assert [folder.is_dir() for folder in folders] == [False, False, True], "one still works, and reads its inputs"
    assert (root / "inputs-data").is_dir()
    end(workers[2])
    NodeFolder(root).leave("s")
    assert sorted(path.name for path in root.iterdir()) == ["lock"]


def test_a_new_worker_removes_what_a_killed_run_left(tmp_path):
    """Not by its number: in another container that shares the disk somebody works under any number."""
    stale = tmp_path / f"worker-s-{os.getpid()}-abc"
    works = tmp_path / "worker-s-999999999-abc"
    for folder in (stale, works):
        folder.mkdir()
    os.close(hold(stale))
    lock = hold(works)
    mine = NodeFolder(tmp_path).worker("t")
    assert mine.is_dir() and works.is_dir() and not stale.exists()
    os.close(lock)


def test_leaving_does_not_wait_for_workers_of_others(tmp_path):
    node = NodeFolder(tmp_path)
    kept = node.worker("others")
    began = time.monotonic()
    node.leave("mine")
    assert time.monotonic() - began < node_folder._END_SECONDS and kept.is_dir()


def test_a_folder_that_somebody_else_made_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / f"swarm-evo-{os.getuid()}").symlink_to(tmp_path)
    assert NodeFolder.of_user().worker("s").parent != tmp_path
