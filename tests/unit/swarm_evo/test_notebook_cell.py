"""What a notebook shows: the verdict once, wherever the result stands."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from swarm_evo.notebook import Cell
from swarm_evo.result import Result

VERDICT = "Better than <your> program."


@pytest.fixture
def outputs(monkeypatch):
    """The outputs of a cell, as IPython keeps them."""
    shown: list[str] = []

    class Handle:
        def __init__(self, html):
            self._place = len(shown)
            shown.append(html)

        def update(self, html):
            shown[self._place] = html

    display = SimpleNamespace(HTML=str, display=lambda html, display_id: Handle(html))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(Result, "_scores", lambda self: [])
    return shown


def watched() -> Result:
    cell = Cell()
    cell.learn({"type": "run.opened", "run": "run-1", "steps": 0, "max_steps": 4, "seconds": None, "unit": "m"})
    cell.learn({"type": "node.committed", "step": 4})
    cell.close(VERDICT)
    return Result("run-1", Path("/nowhere"), None, {"verdict": {"text": VERDICT}}, cell=cell)


def test_a_result_that_nobody_shows_leaves_its_verdict_in_the_cell(outputs):
    watched()
    assert [VERDICT.replace("<", "&lt;").replace(">", "&gt;") in html for html in outputs] == [True]


def test_where_the_result_stands_at_the_cells_end_the_verdict_is_said_once(outputs):
    outputs.append(watched()._repr_html_())
    assert outputs[0] == "<div>run-1: 4 steps</div>"
    assert ["Better than" in html for html in outputs] == [False, True]
