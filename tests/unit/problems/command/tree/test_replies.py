"""Replies about several files, in every form that models write."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from problems.command.tree.base import snapshot
from problems.command.tree.replies import Edit, Wanted, as_reply, asked_files, edits_of, read_reply, unnamed_blocks
from problems.command.tree.tree import Ground, Tree, TreeError, is_path, read_tree
from utils.fences import strip_thinking

BLOCK = "<<<<<<< SEARCH\nFACTOR = 3\n=======\nFACTOR = 5\n>>>>>>> REPLACE"
DIFF = "--- a/src/a.py\n+++ b/src/a.py\n@@ -1,2 +1,2 @@\n-FACTOR = 3\n+FACTOR = 5\n \n"
WHOLE = "FACTOR = 5\n\n\ndef total(values):\n    return sum(values) * FACTOR\n"


@pytest.mark.parametrize(
    "reply",
    [
        f"Plan.\n\nsrc/a.py\n{BLOCK}\n",
        f"Plan.\n\n### `src/a.py`\n```python\n{BLOCK}\n```\n",
        f"Plan.\n\n### `src/a.py`\n```python\n{BLOCK.replace(' SEARCH', 'SEARCH')}\n```\n",
        f"Plan.\n\n```python\nsrc/a.py\n{BLOCK}\n```\n",
        f"Plan.\n\n**File: src/a.py**\n\n{BLOCK}\n",
        f"Plan.\n\n{DIFF}",
        f"Plan.\n\n```diff\n{DIFF}```\n",
        f"Plan.\n\n```diff\ndiff --git a/src/a.py b/src/a.py\nindex 12..34 100644\n{DIFF}```\nDone.\n",
        f"Plan.\n\nsrc/a.py\n```python\n{WHOLE}```\n",
        f"Plan.\n\n```python src/a.py\n{WHOLE}```\n",
        f"Plan.\n\n```python:src/a.py\n{WHOLE}```\n",
        f"Plan.\n\n#### src/a.py:\n\n````\n{WHOLE}````\n",
        f"Plan.\r\n\r\nsrc/a.py\r\n{BLOCK}\r\n".replace("\n", "\r\n").replace("\r\r", "\r"),
    ],
)
def test_each_form_says_the_same(ground, reply):
    tree, plan = read_reply(Tree(ground), reply)
    assert tree.changes == {"src/a.py": WHOLE}
    assert plan == "Plan."


def test_a_file_with_a_comment_in_place_of_lines_is_refused(ground):
    """It was written as it stood, without the lines that the comment stands for."""
    part = "FACTOR = 5\n# ... rest of the file unchanged ...\n"
    for reply in (f"src/a.py\n```python\n{part}```\n", f"src/a.py\n{BLOCK.replace('FACTOR = 5', part.strip())}\n"):
        with pytest.raises(TreeError, match=r"src/a\.py: a comment in place of lines"):
            read_reply(Tree(ground), reply)
    tree, _ = read_reply(Tree(ground), f"src/notes.md\n````\n{part}````\n")
    assert tree.text("src/notes.md") == part, "an example is no such comment"


def test_several_forms_at_once(ground):
    reply = (
        f"Several things.\n\nsrc/a.py\n{BLOCK}\n\nsrc/new.py\n```python\nx = 1\n```\n\nDELETE src/b.py\n\n"
        "```diff\n--- /dev/null\n+++ b/src/more.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n```\n"
    )
    tree, plan = read_reply(Tree(ground), reply)
    assert dict(tree.changes) == {
        "src/a.py": WHOLE, "src/new.py": "x = 1\n", "src/b.py": None, "src/more.txt": "one\ntwo\n",
    }  # fmt: skip
    assert plan == "Several things."


def test_two_blocks_below_one_path_and_one_of_another_file(ground):
    reply = (
        f"src/a.py\n{BLOCK}\n<<<<<<< SEARCH\n    return sum(values) * FACTOR\n=======\n    return 0\n>>>>>>> REPLACE\n"
        "src/b.py\n<<<<<<< SEARCH\nOFFSET = 10\n=======\nOFFSET = 11\n>>>>>>> REPLACE\n"
    )
    tree, _ = read_reply(Tree(ground), reply)
    assert tree.text("src/a.py").endswith("return 0\n") and tree.text("src/b.py").startswith("OFFSET = 11\n")


def test_line_endings_stay(ground):
    block = "<<<<<<< SEARCH\ntwo\n=======\nzwei\n>>>>>>> REPLACE"
    tree, _ = read_reply(Tree(ground), f"src/deep/c.txt\n{block}\n")
    assert tree.text("src/deep/c.txt") == "one\r\nzwei\r\n"


@pytest.mark.parametrize(
    ("reply", "says", "locked"),
    [
        (f"tests/test_a.py\n{BLOCK}\n", "tests/test_a.py is locked", True),
        ("src/../../x.py\n```\nx\n```\n", "is not a path", True),
        (f"{BLOCK}\n", "write the path", False),
        (f"src/b.py\n{BLOCK}\n", "src/b.py: block 1: the program has no line 'FACTOR = 3'", False),
        (f"src/none.py\n{BLOCK}\n", "no such file", False),
        ("DELETE src/none.py\n", "not there to be deleted", False),
        ("src/a.py\n<<<<<<< SEARCH\nFACTOR = 3\n", "has no line `=======` at the end of the reply", False),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told(ground, reply, says, locked):
    with pytest.raises(TreeError, match=says) as told:
        read_reply(Tree(ground), reply)
    assert told.value.locked is locked


def test_blocks_are_numbered_within_their_file_and_all_that_do_not_fit_are_told(ground):
    """The third block of a file was called block 1, and the next one that did not fit was told a reply later."""
    good = BLOCK.replace("FACTOR = 3", "SCALE = 2")
    with pytest.raises(TreeError) as told:
        read_reply(Tree(ground), f"src/b.py\n{good}\n{BLOCK}\nsrc/deep/c.txt\n{BLOCK}\n")
    assert "src/b.py: block 2: the program has no line 'FACTOR = 3'" in str(told.value)
    assert "; src/deep/c.txt: block 1: the program has no line 'FACTOR = 3'" in str(told.value)


@pytest.mark.parametrize("path", ["initial.py", "files.py", "pathways/in.py", "src/file.txt", "Makefile.am"])
def test_a_path_is_read_as_it_is_written(path):
    for line in (path, f"### {path}", f"`{path}`:", f"File: {path}", f"**{path}**", f"- {path}"):
        assert [edit.path for edit in edits_of(f"{line}\n```\nx\n```\n")[0]] == [path], line


def test_prose_and_unnamed_blocks_change_nothing():
    assert edits_of("I would change src/a.py like this:\n\n```python\nx = 1\n```\n")[0] == []
    assert edits_of("No idea.")[0] == []


@pytest.fixture
def awkward(repository, tmp_path) -> Ground:
    """Names that are no words, in a folder of their own."""
    for name in ("src/with blank/very long.py", "src/app/[id]/page (copy).tsx", "src/wörter.py"):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text("FACTOR = 3\n")
    return Ground(snapshot(repository, tmp_path / "awkward"), ("src/**",))


NAMES = (
    "src/a.py",
    "src/x/y.py",
    "src/x/neu & größer, v2.py",
    "src/app/(shop)/[id]/$page.tsx",
    "src/Makefile",
    "src/-.py",
)
TEXTS = (
    "x = 1\n", "", "\n", "\n\nx\n\n", "```\nfence ````\n", f"src/b.py\n{BLOCK}\n", f"text\n{DIFF}", "DELETE src/b.py\n",
    "diff --git a/src/b.py b/src/b.py\n", "src/b.py\n```\nx\n```\n", "ASK = '<think>why</think>'\n", "READ src/b.py\n",
    "a\r\n\r\nb\r\n",
)  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_handed_in_is_read_back(awkward, text):
    files = {**dict.fromkeys(NAMES, text), "src/b.py": None, "src/with blank/very long.py": None}
    tree, plan = read_reply(Tree(awkward), strip_thinking(f"What was done.\n\n{as_reply(files)}"))
    assert dict(tree.changes) == files
    assert plan == "What was done."


LINES = st.sampled_from(
    [
        "", "x", "```", "````whole", "~~~", "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE", "--- a/x", "+++ b/x", "\\",
        "@@ -1 +1 @@", "diff --git a/x b/x", "DELETE src/b.py", "READ src/b.py", "src/b.py", "`src/b.py`", "<think>",
    ]
)  # fmt: skip
NAME = st.text(st.sampled_from("ab .-_()[]'#$&ü,~=@+%!"), min_size=1, max_size=12).filter(
    lambda name: is_path(f"x/{name}")
)


@given(st.dictionaries(NAME, st.lists(LINES, max_size=8), min_size=1, max_size=3), st.booleans())
@example({"a b/x": []}, False)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_file_of_any_name_is_read_back(ground, files, ends):
    texts = {
        f"src/new/{name}": "".join(f"{line}\r\n" if ends else f"{line}\n" for line in files[name]) for name in files
    }
    tree, _ = read_reply(Tree(ground), strip_thinking(as_reply({**texts, "src/b.py": None})))
    assert dict(tree.changes) == {**texts, "src/b.py": None}
    assert read_tree(ground, tree.code()).changes == tree.changes


def test_a_file_that_is_handed_in_as_it_was_is_no_change(ground):
    texts = {path: ground.base.text(path) for path in ground.searched()}
    assert "\r\n" in texts["src/deep/c.txt"]
    assert read_reply(Tree(ground), as_reply(texts))[0].changes == {}
    tree, _ = read_reply(Tree(ground), as_reply({"src/deep/c.txt": "one\nzwei\r\n"}))
    assert tree.changes == {"src/deep/c.txt": "one\r\nzwei\r\n"}


@pytest.mark.parametrize("path", ["src/with blank/very long.py", "src/app/[id]/page (copy).tsx", "src/wörter.py"])
def test_a_file_is_known_by_its_name_whatever_it_is(awkward, path):
    new = path.replace("very", "not very").replace("(copy)", "(new)").replace("wört", "größ")
    reply = (
        f"Plan.\n\nsrc/a.py\n{BLOCK}\n\n### {path}\n```python\nFACTOR = 4\n```\n\n{new}\n```python\nNEW = 1\n```\n\n"
        f"{path}\n<<<<<<< SEARCH\nFACTOR = 4\n=======\nFACTOR = 5\n>>>>>>> REPLACE\n"
    )
    tree, plan = read_reply(Tree(awkward), reply)
    assert dict(tree.changes) == {"src/a.py": WHOLE, path: "FACTOR = 5\n", new: "NEW = 1\n"}
    assert plan == "Plan."
    for words in (path, f"`{path}`", f"./{path}"):
        assert read_reply(Tree(awkward), f"- DELETE {words}\n")[0].changes == {path: None}
        assert asked_files(f"READ {words} 2-3\nREAD {words}\n", Tree(awkward)) == [Wanted(path, (2, 3)), Wanted(path)]


def test_prose_about_files_is_no_path(awkward):
    for line in (
        "src/a.py is like b.py",
        "see src/a.py",
        "[src/a.py](src/a.py)",
        "DELETE the loop of it",
        "total(x).real()",
    ):
        assert edits_of(f"{line}\n```python\nx = 1\n```\n", Tree(awkward))[0] == [], line


def test_an_example_is_not_the_file_above_it(ground):
    example = "It is used so:\n\n```python\nimport a\n```\n"
    reply = f"src/a.py\n```python\n{WHOLE}```\n\n{example}\nDELETE src/b.py\n```\ny = 1\n```\n"
    assert dict(read_reply(Tree(ground), reply)[0].changes) == {"src/a.py": WHOLE, "src/b.py": None}
    assert unnamed_blocks(reply) == 2
    more = f"src/a.py\n{BLOCK}\n\n{example}"
    assert dict(read_reply(Tree(ground), more)[0].changes) == {"src/a.py": WHOLE}


@pytest.mark.parametrize("head", ["src/README.md\n```markdown", "src/README.md\n```", "```md src/README.md"])
def test_a_markdown_file_is_whole_with_the_fences_in_it(ground, head):
    """The first fence in it ended it, though the one around it was no longer, and the rest was lost."""
    text = "# Use\n\n```sh\nmake\n```\n\nand\n\n```python\nimport a\n```\n\nThat is all.\n"
    reply = f"Tells more.\n\n{head}\n{text}```\n\nsrc/a.py\n{BLOCK}\n"
    tree, _ = read_reply(Tree(ground), reply)
    assert tree.text("src/README.md") == text
    assert tree.text("src/a.py") == WHOLE


def test_what_follows_a_diff_without_a_fence_counts(ground):
    block = BLOCK.replace("FACTOR = 3", "OFFSET = 10").replace("FACTOR = 5", "OFFSET = 9")
    for more in (f"src/b.py\n{block}\n", f"\n`src/b.py`\n\n```\n{block}\n```\n"):
        tree, _ = read_reply(Tree(ground), f"Plan.\n\n{DIFF}{more}\nDELETE src/deep/c.txt\n")
        assert set(tree.changes) == {"src/a.py", "src/b.py", "src/deep/c.txt"}
        assert tree.text("src/b.py").startswith("OFFSET = 9\n")


@pytest.mark.parametrize("path", ['src/"x".py', "src/a\\b.py", "src/ x.py"])
def test_a_path_that_no_system_or_diff_takes_is_refused(ground, path):
    with pytest.raises(TreeError, match="is not a path of a file"):
        Tree(ground).with_file(path, "x\n")


def test_a_writer_may_ask_for_files():
    both = [Wanted("src/a.py"), Wanted("tests/test_a.py")]
    assert asked_files("READ src/a.py\nREAD: `tests/test_a.py`\nREAD src/a.py\n") == both
    assert asked_files("READ src/a.py 3-20\n- READ `src/a.py:30-41`\n") == [
        Wanted("src/a.py", (3, 20)), Wanted("src/a.py", (30, 41))
    ]  # fmt: skip
    assert asked_files(f"READ src/a.py\n\nsrc/a.py\n{BLOCK}\n") == []


@pytest.mark.parametrize(
    ("head", "says"),
    [
        ("new file mode 100644\nindex 000..123\nGIT binary patch\nliteral 3\nKcmZQz", "binary files cannot be added"),
        ("new file mode 120000\n--- /dev/null\n+++ b/src/x\n@@ -0,0 +1 @@\n+a.py", "links cannot be added"),
        ("old mode 100644\nnew mode 100755", "modes stay as they are"),
        ("similarity index 100%\nrename from src/a.py\nrename to src/x", "cannot be renamed"),
    ],
)
def test_what_no_text_says_is_refused_in_one_line(ground, head, says):
    with pytest.raises(TreeError, match=says):
        read_reply(Tree(ground), f"Plan.\n\ndiff --git a/src/a.py b/src/x\n{head}\n")


def test_a_link_stays_and_a_new_script_can_be_run(ground):
    with pytest.raises(TreeError, match=r"src/link\.py is a link; it stays as it is"):
        read_reply(Tree(ground), "src/link.py\n```\nx = 1\n```\n")
    tree, _ = read_reply(Tree(ground), "src/run.sh\n```\n#!/bin/sh\necho hi\n```\n")
    assert "new file mode 100755" in tree.code()


@pytest.mark.parametrize("item", ["1. `src/a.py`:", "- `src/a.py`", "2. Files:\n\n   `src/a.py`"])
@pytest.mark.parametrize("indent", ["   ", "    ", "  "])
def test_a_file_in_a_list_is_written_at_the_margin(item, indent):
    """Its lines kept the indentation of the list, and a deeper one was no file at all."""
    text = "def f():\n    '''As\n\n        ```\n    '''\n"
    block = f"```python\n{text}```\n"
    listed = "".join(f"{indent}{line}\n" if line else "\n" for line in block.splitlines())
    edits, plan = edits_of(f"1. The plan.\n{item}\n{listed}")
    assert edits == [Edit("src/a.py", text, "whole")] and plan.startswith("1. The plan.")
