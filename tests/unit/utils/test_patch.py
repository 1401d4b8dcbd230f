"""Diffs over several files: what is written is read back, git takes it, and what models write is read too."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.patch import PatchError, apply_patch, read_patch, write_patch

LINES = [
    "a",
    "b",
    "",
    " x",
    "-- a/x",
    "++ b/y",
    "diff --git a/x b/x",
    "\\ No newline at end of file",
    "@@ -1 +1 @@",
    "c\r",
]
TEXT = st.builds(
    lambda lines, end: "\n".join(lines) + end,
    st.lists(st.sampled_from(LINES), max_size=12),
    st.sampled_from(["", "\n"]),
)
FILE = st.none() | TEXT
CODE = "def f(x):\n    a = 1\n    b = 2\n\n    return a + b\n"


@given(st.dictionaries(st.sampled_from(["a.py", "b/c.txt", "d"]), st.tuples(FILE, FILE), max_size=3))
def test_what_is_written_is_read_back(changes):
    found = {patch.path: patch for patch in read_patch(write_patch(changes))}
    assert sorted(found) == sorted(path for path, (old, new) in changes.items() if old != new)
    for path, patch in found.items():
        old, new = changes[path]
        assert apply_patch(patch, old) == new


def test_git_applies_it(tmp_path: Path):
    before = {"a.py": CODE, "old.txt": "one\ntwo", "gone": "x\n"}
    after = {
        "a.py": CODE.replace("b = 2", "b = 3"),
        "old.txt": "one\ntwo\nthree",
        "new/deep.py": "y = 1\n",
        "empty": "",
    }
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    patch = "base 0123\n" + write_patch({n: (before.get(n), after.get(n)) for n in {*before, *after}})
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "apply"], cwd=tmp_path, input=patch, text=True, check=True)
    left = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file() and ".git" not in p.parts}
    assert left == set(after)
    assert all((tmp_path / name).read_text() == text for name, text in after.items())


def test_only_what_changed_is_written():
    old = "".join(f"line {i}\n" for i in range(5000))
    patch = write_patch({"a": (old, old.replace("line 2500\n", "other\n"))})
    assert patch.count("\n") == 3 + 1 + 6 + 2
    assert [p.counts for p in read_patch(patch)] == [(1, 1)]


def test_a_comment_of_sql_counts_as_a_changed_line():
    old, new = "-- one\n-- two\nSELECT 1;\n", "-- one\n++ three\nSELECT 1;\n-- four\n"
    (patch,) = read_patch(write_patch({"a.sql": (old, new)}))
    assert patch.counts == (2, 1)


@pytest.mark.parametrize("head", ["@@ -1,9 +1,9 @@", "@@ -40,2 +40,3 @@ def f(x):", "@@ -2,2 +2,2 @@"])
def test_a_models_wrong_numbers_are_forgiven(head):
    text = f"--- a/m.py\n+++ b/m.py\n{head}\n     a = 1\n-    b = 2\n+    b = 20\n"
    [patch] = read_patch(text)
    assert apply_patch(patch, CODE) == CODE.replace("b = 2", "b = 20")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("@@ -1 +1 @@\n-a\n+b\n", "a hunk without"),
        ("--- a/m.py\n+++ b/m.py\n@@ -1 +1 @@\n-no such line\n+b\n", "no such line"),
        ("--- a/m.py\n+++ b/m.py\n@@ -9,0 +9 @@\n+b\n", "without lines around it"),
    ],
)
def test_what_does_not_fit_is_told(text, says):
    with pytest.raises(PatchError, match=says):
        for patch in read_patch(text):
            apply_patch(patch, CODE if "lines around" not in says else "one\n")


def test_a_file_that_is_not_there_is_neither_changed_nor_deleted():
    changed, deleted = write_patch({"a": ("x\n", "y\n")}), write_patch({"a": ("x\n", None)})
    for text in (changed, deleted):
        with pytest.raises(PatchError, match="a: "):
            apply_patch(read_patch(text)[0], None)
