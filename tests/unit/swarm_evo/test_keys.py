"""Settings of Python as words of the command line: each comes back as it was given."""

from __future__ import annotations

import threading
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from swarm_evo.search import keep, keys
from utils.config import load_config

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="$\u2028\u2029\ufeff\ufffe\uffff"))
SENTENCES = st.tuples(TEXTS, st.sampled_from([" # ", ": ", "\n", " ", "\\n", '"', "'"]), TEXTS).map(
    "a {0[0]}{0[1]}{0[2]}".format
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | SENTENCES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
    max_leaves=5,
)


@given(VALUES)
def test_what_is_given_in_python_is_what_the_run_has(value):
    words = keys({}, ".", {}, {"problem": {"options": {"x": value}}})
    assert load_config(None, words, env={}).problem.options["x"] == value


def test_paths_in_a_list_are_their_names():
    (word,) = (one for one in keys({}, ".", {}, {"initial": [Path("mine.py"), "my other.py"]}) if "initial" in one)
    assert load_config(None, [word], env={}).initial == ["mine.py", "my other.py"]


def test_a_function_that_is_kept_again_is_whole_at_every_moment(tmp_path):
    """A second search of the same function emptied the file that a first one was reading."""
    content, lengths, over = b"x" * 2_000_000, set(), threading.Event()
    path = keep(content, "evaluate.pkl", tmp_path)

    def read() -> None:
        while not over.is_set():
            lengths.add(len(path.read_bytes()))

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(50):
        keep(content, "evaluate.pkl", tmp_path)
    over.set()
    reader.join()
    assert lengths == {len(content)} and [one.name for one in path.parent.iterdir()] == [path.name]
