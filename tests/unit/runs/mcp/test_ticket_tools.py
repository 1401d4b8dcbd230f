"""What a client of MCP hears of a run that answers oddly, or not at all, within the time of a call."""

from __future__ import annotations

import time

import pytest

from runs.mcp.ticket_tools import TicketTools
from runs.tickets.server import TicketServer
from utils.errors import StoreError
from utils.mcp_protocol import Call


@pytest.fixture
def run_dir(tmp_path):
    """A folder that is found as a run."""
    folder = tmp_path / "logs" / "one"
    folder.mkdir(parents=True)
    (folder / "run.db").touch()
    return folder


@pytest.fixture
def tools(tmp_path):
    return TicketTools(lambda: str(tmp_path), {"ask", "stop_run"})


def test_a_refused_ask_is_told_at_once(run_dir, tools):
    heard = []

    def answer(request):
        heard.append(request["verb"])
        time.sleep(0.05)
        raise StoreError("the database is locked")

    server = TicketServer(run_dir, answer)
    try:
        found = tools.ask({"run": "one"}, Call(lambda told: None, None))
    finally:
        server.close()
    assert "the database is locked" in found["error"] and heard == ["ask"]
