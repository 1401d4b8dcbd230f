"""What a client of MCP hears of a run that answers oddly, or not at all, within the time of a call."""

from __future__ import annotations

import time

import pytest

from runs.mcp import ticket_tools
from runs.mcp.handlers import handler_of
from runs.mcp.ticket_tools import TicketTools
from runs.mcp.tools import ROLES
from runs.tickets import client, stored_answers
from runs.tickets.server import TicketServer
from utils.errors import StoreError, SwarmEvoError
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


SLOW = """
import sys, time
with open(sys.argv[0] + ".starts", "a") as file:
    file.write("once\\n")
time.sleep({seconds})
sys.exit("swarm-evo: the data are gone")
"""


@pytest.fixture
def slowly_taken_up(tmp_path, monkeypatch):
    """A run that nobody holds, whose process takes so many seconds and fails then."""
    monkeypatch.setattr(stored_answers, "answer_of_the_store", lambda run_dir, request: None)
    started, start = [], client.start_apart
    monkeypatch.setattr(client, "start_apart", lambda *words: started.append(start(*words)) or started[-1])
    monkeypatch.setattr(client, "MAIN", tmp_path / "main.py")
    monkeypatch.setattr(ticket_tools, "LONGEST", 1.3)
    yield lambda seconds: (tmp_path / "main.py").write_text(SLOW.format(seconds=seconds))
    for child in started:
        child.kill()
        child.wait()
    client._STARTING.clear()


def test_a_call_has_its_answer_in_time_though_the_run_is_taken_up_slowly(run_dir, tools, tmp_path, slowly_taken_up):
    """Each of five tries waited up to 30 s for a process, and the client heard nothing meanwhile."""
    slowly_taken_up(600)
    told = []
    began = time.monotonic()
    for tool, arguments in ((tools.ask, {"run": "one"}), (tools.tell, {"ticket": "one/n.t", "files": {}})):
        found = tool(arguments, Call(told.append, 1))
        verb = tool.__name__
        assert found["error"] == f"run one is being taken up, which takes a while: {verb} again"
        assert found["next"] == verb
    assert time.monotonic() - began < 60, "two calls of 1.3 s each"
    assert "the run is taken up" in str(told)
    assert (tmp_path / "main.py.starts").read_text() == "once\n", "who asks again waits for the same process"


def test_who_asks_again_hears_why_the_run_could_not_be_taken_up(run_dir, tools, slowly_taken_up):
    slowly_taken_up(1.5)
    assert tools.ask({"run": "one"}, Call(lambda told: None, None))["next"] == "ask"
    with pytest.raises(SwarmEvoError, match="the data are gone"):
        tools.ask({"run": "one"}, Call(lambda told: None, None))


@pytest.mark.parametrize("tool", ["tell", "check", "plan_run"])
def test_a_name_that_no_disk_takes_is_told_without_a_traceback(tmp_path, run_dir, capfd, tool):
    place = "x" * 3000
    served = {tool.name for tools in ROLES.values() for tool in tools}
    arguments = {"data": place} if tool == "plan_run" else {"ticket": "0", "dir": place}
    found = handler_of(lambda: str(tmp_path), served)(tool, arguments, Call(lambda told: None, None))
    assert "cannot be used (File name too long)" in found["error"] and len(found["error"]) < 300, found
    assert found["next"] == tool and "Traceback" not in capfd.readouterr().err
