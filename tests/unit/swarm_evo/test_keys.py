"""Settings of Python as words of the command line: each comes back as it was given."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarm_evo.errors import SearchError
from swarm_evo.kept import KeptFiles
from swarm_evo.words import keys as keys_of
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


def keys(budget, project_dir, more, settings):
    return keys_of(budget, KeptFiles(Path(project_dir)), more, settings)


@given(VALUES)
def test_what_is_given_in_python_is_what_the_run_has(value):
    words = keys({}, ".", {}, {"problem": {"options": {"x": value}}})
    assert load_config(None, words, env={}).problem.options["x"] == value


def test_paths_in_a_list_are_their_names():
    (word,) = (one for one in keys({}, ".", {}, {"initial": [Path("mine.py"), "my other.py"]}) if "initial" in one)
    assert load_config(None, [word], env={}).initial == ["mine.py", "my other.py"]


def test_data_frames_are_tables(tmp_path):
    """Of a notebook's data the printed frame was taken for the name of a file."""
    frame = pd.DataFrame({"size": [1.5, None], "flat": ["a;b", "é"]}, index=pd.Index([7, 9], name="id"))
    more = {"data": {"train": frame, "test": frame[["size"]], "target": "flat"}}
    data = load_config(None, keys({}, tmp_path, {}, more), env={}).data
    assert pd.read_csv(data.train, index_col="id").equals(frame) and Path(data.test).name == "test.csv"
    assert data.target == "flat" and Path(data.train).is_relative_to(tmp_path / ".swarm-evo")
    with pytest.raises(SearchError, match=r"^data__dir: a data frame is given as data__train or"):
        keys({}, tmp_path, {}, {"data": {"dir": frame}})
    with pytest.raises(SearchError, match=r"^data__train=.* \(Series\): a table is a data frame with named columns"):
        keys({}, tmp_path, {}, {"data": {"train": frame["size"]}})
    with pytest.raises(SearchError, match=r"^data__test: the data frame's columns have names of several levels"):
        keys({}, tmp_path, {}, {"data__test": pd.concat({"a": frame}, axis=1)})


def test_numbers_of_arrays_are_numbers_and_what_yaml_has_not_is_refused(tmp_path):
    """An array went as it is printed, whose words stood in no list; a set became a mapping."""
    more = {"data__classes": np.array(["no", "yes"]), "logging__report": np.bool_(False)}
    config = load_config(None, keys({"steps": np.int64(3)}, tmp_path / "a # b", {}, more), env={})
    assert config.data.classes == "no,yes" and config.search.max_steps == 3 and config.logging.report is False
    assert config.project.dir == str(tmp_path / "a # b"), "a path is a text"
    for odd in ({1}, pd.Timedelta("3s"), [object()], {"a": {2}}):
        with pytest.raises(SearchError, match=r"^problem__options=.*: a text, a number, a list or a mapping is needed"):
            keys({}, tmp_path, {}, {"problem__options": [odd]})


def test_a_function_that_is_kept_again_is_whole_at_every_moment(tmp_path):
    """A second search of the same function emptied the file that a first one was reading."""
    content, lengths, over = b"x" * 2_000_000, set(), threading.Event()
    kept = KeptFiles(tmp_path)
    path = kept.keep(content, "evaluate.pkl")

    def read() -> None:
        while not over.is_set():
            lengths.add(len(path.read_bytes()))

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(50):
        kept.keep(content, "evaluate.pkl")
    over.set()
    reader.join()
    assert lengths == {len(content)} and [one.name for one in path.parent.iterdir()] == [path.name]
