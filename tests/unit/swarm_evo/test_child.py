"""The process behind Python's front door: its end is heard whatever it printed."""

from __future__ import annotations

import sys

import pytest

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
