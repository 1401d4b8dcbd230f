"""Trees: the base as it is copied, what may change, the text of a candidate, merging."""

from __future__ import annotations

import os
import stat

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from problems.command.tree.base import kept, snapshot
from problems.command.tree.job import _clash
from problems.command.tree.merging import merged
from problems.command.tree.problem import BASES
from problems.command.tree.tree import Tree, TreeError, read_tree
from runs.ending.leftover_bases import leftover_bases

LOCKED = [
    "tests/test_a.py", "src/secret.py", "../x", "/etc/passwd", "src/../tests/test_a.py", "src//a.py",
    "src/.git/hooks/x",
    "src/.GIT/config", "src/a.py/b.py", "src/link.py", "src/deep", "src/blob.dat", "src/a\nb.py", "src/./a.py", "",
    "src/ a.py", ".git/config", "src/deep\\c", "src/link.py/x",
]  # fmt: skip


def test_the_base_is_a_copy_without_history_and_without_links_that_lead_out(ground, repository):
    base = ground.base
    assert ".git/HEAD" not in base.files and "out" not in base.files
    assert {"src/link.py", "build/lib.bin", "tests/test_a.py"} <= set(base.files)
    (repository / "src/a.py").write_text("changed since\n")
    assert base.text("src/a.py").startswith("FACTOR")
    assert stat.S_IMODE((base.folder / "src").stat().st_mode) == 0o1777
    assert stat.S_IMODE((base.folder / "src/a.py").stat().st_mode) == 0o644


def test_equal_contents_are_one_base(repository, tmp_path):
    store = tmp_path / "bases"
    first, again = snapshot(repository, store), snapshot(repository, store)
    assert first.id == again.id and kept(store, first.id).files == first.files
    (repository / "src/a.py").chmod(0o755)
    assert snapshot(repository, store).id != first.id
    assert kept(store, "0" * 24) is None


def test_a_base_that_a_run_begins_with_is_no_leftover(repository, tmp_path):
    """`rm` of the last run that had named it took it from one that had not yet."""
    store = tmp_path / "workspaces" / BASES
    base = snapshot(repository, store)
    os.utime(store / base.id, (1, 1))
    assert leftover_bases(tmp_path) == [store / base.id]
    snapshot(repository, store)
    assert leftover_bases(tmp_path) == []


@pytest.mark.parametrize("path", LOCKED)
def test_what_is_locked_stays(ground, path):
    with pytest.raises(TreeError) as told:
        Tree(ground).with_file(path, "x\n")
    assert told.value.locked


@pytest.mark.parametrize("path", [f"src/{'x' * 253}.py", "src/" + "ü" * 126 + ".txt", "src/" + "a/" * 1_000 + "a.py"])
def test_a_path_that_no_system_could_hold_is_a_slip_and_told_with_its_rule(ground, path):
    """It was called tampering, as if what is locked had been touched."""
    with pytest.raises(TreeError, match="is too long: a name may have 255 bytes, and a path 2,000") as told:
        Tree(ground).with_file(path, "x = 1\n")
    assert not told.value.locked and len(str(told.value)) < 200
    with pytest.raises(TreeError) as told:
        Tree(ground).with_file(f"../{path}", "x = 1\n")
    assert told.value.locked


def test_files_are_changed_added_and_deleted(ground):
    tree = Tree(ground).with_file("src/a.py", "FACTOR = 4\n").with_file("src/new/d.py", "x = 1\n")
    tree = tree.with_file("src/b.py", None)
    assert read_tree(ground, tree.code()).changes == tree.changes
    assert tree.code().startswith(f"base {ground.base.id}\ndiff --git a/src/a.py b/src/a.py\n")
    assert sorted(tree.files()) == ["src/a.py", "src/new/d.py"]
    assert tree.text("src/b.py") is None and tree.text("src/deep/c.txt") == "one\r\ntwo\r\n"


def test_a_change_that_is_taken_back_leaves_the_base(ground):
    tree = Tree(ground).with_file("src/a.py", "x\n").with_file("src/a.py", ground.base.text("src/a.py"))
    assert tree.code() == Tree(ground).code() == f"base {ground.base.id}\n"


def test_a_diff_against_another_base_is_none_of_ours(ground):
    with pytest.raises(TreeError, match="another base"):
        read_tree(ground, "base 000000000000000000000000\n")
    with pytest.raises(TreeError, match="locked") as told:
        read_tree(ground, "--- a/tests/test_a.py\n+++ b/tests/test_a.py\n@@ -1 +1 @@\n-from src.a import total\n+x\n")
    assert told.value.locked


def test_a_text_that_changes_nothing_since_it_is_no_diff_is_not_taken_for_the_base(ground):
    """A file given by `initial` was scored as the folder as it is: its own score, for a program that nobody ran."""
    with pytest.raises(TreeError, match="it is no diff"):
        read_tree(ground, "FACTOR = 7\n")


@pytest.mark.parametrize("text", ["x\n", ""], ids=["some text", "nothing in it"])
def test_a_file_and_a_folder_of_one_name(ground, text):
    with pytest.raises(TreeError, match="a file and a folder"):
        Tree(ground).with_file("src/n", text).with_file("src/n/m", "y\n")
    assert _clash({"src/n": text, "src/n/m": "y\n", "src/o": None, "src/o/p": ""}) == "src/n"


def test_comments_and_layout_make_no_new_program(ground):
    tree = Tree(ground).with_file("src/a.py", "# new\n" + ground.base.text("src/a.py"))
    assert tree.code() != Tree(ground).code() and tree.normal_hash() == Tree(ground).normal_hash()
    other = Tree(ground).with_file("src/a.py", "FACTOR = 4\n")
    same_elsewhere = Tree(ground).with_file("src/b.py", "FACTOR = 4\n")
    assert len({other.normal_hash(), same_elsewhere.normal_hash(), tree.normal_hash()}) == 3
    text = Tree(ground).with_file("src/deep/c.txt", "# one\n")
    assert text.normal_hash() != Tree(ground).normal_hash()


def test_disjoint_changes_merge(ground):
    a, b = ground.base.text("src/a.py"), ground.base.text("src/b.py")
    first = Tree(ground).with_file("src/a.py", a.replace("3", "4")).with_file("src/b.py", b.replace("= 10", "= 11"))
    second = Tree(ground).with_file("src/b.py", b.replace("x + OFFSET", "x - OFFSET")).with_file("src/n.py", "y = 1\n")
    both = merged(first, second)
    assert both.text("src/a.py") == a.replace("3", "4") and both.text("src/n.py") == "y = 1\n"
    assert both.text("src/b.py") == b.replace("= 10", "= 11").replace("x + OFFSET", "x - OFFSET")


def test_contradictions_and_nothing_new_do_not_merge(ground):
    b = ground.base.text("src/b.py")
    first = Tree(ground).with_file("src/b.py", b.replace("= 10", "= 11"))
    assert merged(first, Tree(ground).with_file("src/b.py", b.replace("= 10", "= 12"))) is None
    assert merged(first, Tree(ground).with_file("src/b.py", b.replace("SCALE = 2", "SCALE = 3"))) is None, "next lines"
    assert merged(first, Tree(ground).with_file("src/b.py", None)) is None
    assert merged(first, Tree(ground)) is None and merged(first, first) is None


TEXT = st.lists(st.sampled_from(["a", "b", "c = 1", ""]), max_size=6).map("\n".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(["src/a.py", "src/b.py", "src/x.py", "src/deep/c.txt"]), st.none() | TEXT))
def test_the_text_is_the_tree(ground, changes):
    tree = Tree(ground)
    for path, text in changes.items():
        if text is not None or tree.text(path) is not None:
            tree = tree.with_file(path, text)
    again = read_tree(ground, tree.code())
    assert again.changes == tree.changes and again.code() == tree.code()
