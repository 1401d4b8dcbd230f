"""The version of us: a change anywhere in what a module imports of ours is another digest."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from utils import own_sources
from utils.own_sources import product_version, sources_digest


@pytest.fixture
def ours(tmp_path, monkeypatch):
    """A folder of ours, in which `problems.kind.writer` is loaded."""
    texts = {
        "problems/kind/writer.py": "from problems.kind import words\nfrom core.base import (\n    one,\n)\nimport os\n",
        "problems/kind/words.py": "def late():\n    from utils.far import x\n",
        "problems/kind/alone.py": "a = 1\n",
        "problems/kind/__init__.py": "",
        "core/base.py": "one = 1\n",
        "utils/far.py": "x = 1\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    module = type(sys)("kind_writer")
    module.__file__ = str(tmp_path / "problems/kind/writer.py")
    monkeypatch.setitem(sys.modules, "kind_writer", module)
    monkeypatch.setattr(own_sources, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "counts"),
    [("problems/kind/writer.py", True), ("problems/kind/words.py", True), ("core/base.py", True),
     ("utils/far.py", True), ("problems/kind/alone.py", False)],
)  # fmt: skip
def test_what_a_module_imports_of_ours_counts_and_nothing_else(ours, name, counts):
    before = sources_digest("kind_writer")
    path = ours / name
    path.write_text(path.read_text() + "more = 1\n")
    assert (sources_digest("kind_writer") != before) == counts and before.startswith("sha256:")


def test_a_module_without_a_file_has_no_digest():
    assert sources_digest("builtins") == "" and sources_digest("no_such_module") == ""


def test_the_version_is_that_of_the_checkout():
    text = (Path(__file__).parents[3] / "pyproject.toml").read_text()
    assert f'version = "{product_version()}"' in text


def test_every_writer_of_the_problems_has_sources():
    from problems.competition.rules.writer import CompetitionWriter

    assert len(sources_digest(CompetitionWriter.__module__)) == len("sha256:") + 32
