"""The process behind Python's front door: its end is heard whatever it printed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import swarm_evo
from swarm_evo import child
from swarm_evo.child import Child

PROGRAM = """
print('{"type": "run.doing", "text": "a"}{"type": "run.doing"}')
print('{not JSON')
print('[1]')
print('{"type": "result", "facts": {}}', flush=True)
"""


def test_what_is_no_line_of_ours_does_not_hide_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "command", lambda words: [sys.executable, "-c", *words])
    run = Child([PROGRAM], quiet=True)
    with run.news:
        assert run.news.wait_for(lambda: run.ended, 30)
    assert run.exit_code() == 0 and [line["type"] for line in run.told] == ["result"]


def test_a_search_finds_packages_where_this_process_does(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Clusters, and `pip install --target`, name them in PYTHONPATH, which was not passed on: 'pydantic' was missing.
    What bears our names, or the library's, does no harm there."""
    for name in ("utils", "core", "json", "queue"):
        (tmp_path / f"{name}.py").write_text('raise ImportError("a foreign module")\n')
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['pydantic'] = None\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(swarm_evo.SearchError, match="'pydantic'"):
        swarm_evo.load(project_dir=tmp_path)
    (tmp_path / "sitecustomize.py").unlink()
    assert swarm_evo.runs(project_dir=tmp_path) == []
