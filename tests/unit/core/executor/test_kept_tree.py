"""A copy that is kept is, after any job, what the base is; and whatever a job did to the base's files is told."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from core.executor import kept_tree
from core.executor.kept_tree import KeptTree, KeptTrees

FILES = {"a.txt": "one\n", "src/b.py": "x = 1\n", "src/deep/c": "c\n", "run.sh": "#!/bin/sh\n"}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    folder = tmp_path / "base"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("src/b.py")
    return folder


def contents(folder: Path) -> dict[str, tuple[object, int]]:
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        what = os.readlink(path) if path.is_symlink() else "folder" if path.is_dir() else path.read_bytes()
        found[path.relative_to(folder).as_posix()] = (what, 0 if path.is_dir() else mode)
    return found


def _same_size_same_time(folder: Path) -> None:
    was = (folder / "a.txt").stat()
    (folder / "a.txt").write_text("two\n")
    os.utime(folder / "a.txt", ns=(was.st_atime_ns, was.st_mtime_ns))


def _replaced_folder(folder: Path) -> None:
    shutil.rmtree(folder / "src")
    (folder / "src").symlink_to("/etc")


def _mapped(folder: Path) -> None:
    import mmap

    with (folder / "a.txt").open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        memory[0:3] = b"two"


DONE = {
    "writes, with size and time as they were": (_same_size_same_time, ["a.txt"]),
    "writes through memory": (_mapped, ["a.txt"]),
    "renames over": (
        lambda f: ((f / "new").write_text("one\n2"), (f / "new").rename(f / "a.txt")), ["a.txt"],
    ),
    "removes": (lambda f: (f / "src/deep/c").unlink(), ["src/deep/c"]),
    "a folder becomes a link": (_replaced_folder, ["src/b.py", "src/deep/c"]),
    "a file becomes a folder": (lambda f: ((f / "a.txt").unlink(), (f / "a.txt/x").mkdir(parents=True)), ["a.txt"]),
    "a link leads elsewhere": (lambda f: ((f / "link").unlink(), (f / "link").symlink_to("/etc/passwd")), ["link"]),
    "only touches": (lambda f: os.utime(f / "a.txt"), []),
    "only its mode": (lambda f: (f / "a.txt").chmod(0o777), []),
    "adds files and folders": (lambda f: ((f / "x/y").mkdir(parents=True), (f / "x/y/z").write_text("z")), []),
    "closes a folder": (lambda f: (f / "src").chmod(0), None),
}  # fmt: skip


@pytest.mark.parametrize("what", DONE)
def test_what_a_job_did_is_told_and_undone(base: Path, tmp_path: Path, what: str):
    trees = KeptTrees(base, tmp_path / "trees")
    act, told = DONE[what]
    with trees.borrowed() as tree:
        first = tree.folder
        tree.lay({"src/b.py": (b"mine\n", 0o644), "src/new/d": (b"d\n", 0o755)})
        assert (tree.folder / "src/b.py").read_text() == "mine\n"
        act(tree.folder)
        touched = tree.touched()
        if told is not None and "becomes a link" not in what:
            assert touched == told
        elif told is not None:
            assert set(touched) == set(told) - {"src/b.py"}, (
                "what the candidate itself laid there is looked at elsewhere"
            )
    with trees.borrowed() as tree:
        assert contents(tree.folder) == contents(base)
        assert told is None or tree.folder == first, "the same copy, not a new one"
    trees.close()
    assert not list((tmp_path / "trees").iterdir())


def test_files_taken_away_are_there_again(base: Path, tmp_path: Path):
    trees = KeptTrees(base, tmp_path / "trees")
    with trees.borrowed() as tree:
        tree.lay({"a.txt": None, "src/deep/c": (b"other", 0o644)})
        assert not (tree.folder / "a.txt").exists() and tree.touched() == []
    with trees.borrowed() as tree:
        assert contents(tree.folder) == contents(base)


def test_two_at_once_have_a_copy_each(base: Path, tmp_path: Path):
    trees = KeptTrees(base, tmp_path / "trees")
    with trees.borrowed() as one, trees.borrowed() as other:
        assert one.folder != other.folder
    with pytest.raises(ZeroDivisionError), trees.borrowed() as broken:
        raise ZeroDivisionError
    assert not broken.folder.exists(), "what ended in the middle is not believed to be whole"


def test_one_that_could_not_be_made_as_it_was_is_gone_and_the_next_job_has_another(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    trees = KeptTrees(base, tmp_path / "trees")
    with monkeypatch.context() as full, trees.borrowed() as broken:
        (broken.folder / "a.txt").write_text("mine")
        full.setattr(KeptTree, "_restore", lambda self: os.stat("/nowhere at all"))
    assert not broken.folder.exists()
    with trees.borrowed() as tree:
        assert tree.folder != broken.folder and contents(tree.folder) == contents(base)
    trees.close()


def test_a_change_is_always_later_than_what_was_laid(base: Path, tmp_path: Path):
    """The kernel's clock for files ticks every few milliseconds: a write in the tick of the copy must not be missed."""
    trees = KeptTrees(base, tmp_path / "trees")
    for number in range(5):
        with trees.borrowed() as tree:
            tree.lay({})
            newest = max(p.lstat().st_ctime_ns for p in tree.folder.rglob("*") if not p.is_dir())
            assert time.time_ns() >= newest + kept_tree._TICK
            (tree.folder / "a.txt").write_text(f"tw{number}\n")
            assert tree.touched() == ["a.txt"]


def test_a_clock_that_is_behind_the_files_is_not_waited_for(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """One set back by a day was: the next job began a day later."""
    trees = KeptTrees(base, tmp_path / "trees")
    real = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real() - 60 * 10**9)
    began = time.monotonic()
    with trees.borrowed() as tree:
        tree.lay({"a.txt": (b"mine", 0o644)})
    assert time.monotonic() - began < 30
