"""The process behind Python's front door: its end is heard whatever it printed."""

from __future__ import annotations

import io
import os
import sys
import threading
from pathlib import Path
from unittest.mock import Mock

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


TALKS = """
import sys
for n in range(20_000):
    print('step', n, file=sys.stderr)
print('{"type": "result"}')
"""


@pytest.mark.parametrize("broken", [OSError(32, "Broken pipe"), ValueError("I/O operation on closed file")])
def test_it_goes_on_where_nobody_hears_its_standard_error_any_more(
    monkeypatch: pytest.MonkeyPatch, broken: Exception
) -> None:
    """`quiet=False` behind `| head`: the thread that repeats it died, and the search's next line ended the search."""
    monkeypatch.setattr(child, "command", lambda words: [sys.executable, "-c", *words])
    monkeypatch.setattr(sys, "stderr", Mock(spec=io.StringIO, write=Mock(side_effect=broken)))
    run = Child([TALKS], quiet=False)
    assert run.exit_code() == 0 and run.last == {"type": "result"}
    assert list(run._errors)[-1] == "step 19999"


@pytest.mark.parametrize("begin", [lambda: Child(["x"], quiet=True), lambda: child.ask("x")])
def test_without_room_for_a_thread_no_search_is_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, begin) -> None:
    """It went on by itself, and stood still once its pipe was full."""
    place = tmp_path / "pid"
    program = f"import os, time; open({str(place)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    monkeypatch.setattr(child, "command", lambda words: [sys.executable, "-c", program])

    def full(thread: threading.Thread) -> None:
        while not (place.exists() and place.read_text()):
            pass
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", full)
    with pytest.raises(swarm_evo.SearchError, match="can't start new thread"):
        begin()
    with pytest.raises(ProcessLookupError):
        os.kill(int(place.read_text()), 0)


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
