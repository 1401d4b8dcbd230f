"""Who wrote what, on the page: a real coding agent's session behind the gateway, and a real ticket."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from support.command_line import Cli, toy_words
from support.dashboard import serving
from support.model_server import ModelServer
from support.pages import PATIENCE, expect
from support.processes import eventually

AGENT = """
import json, os, urllib.request
def ask(text):
    body = {"model": "m", "max_tokens": 500, "messages": [{"role": "user", "content": text}]}
    headers = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "content-type": "application/json"}
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as answer:
        return json.load(answer)["content"][0]["text"]
print(ask("<b>bold</b> " + open("TASK.md").read()))
open("program.py", "w").write("x = 1.5\\n# of what the writer outside thinks about the number above\\n")
"""


@pytest.mark.long
def test_a_session_turn_by_turn_and_a_ticket(page: Any, cli: Cli) -> None:
    (cli.folder / "agent.py").write_text(AGENT)
    with ModelServer(lambda request, results: "", plain="I take <i>one</i> and a half") as models:
        keys = {"provider": "agent", "command": f"{sys.executable} {cli.folder / 'agent.py'}", "model": "m",
                "base_url": models.url, "api_key": "k", "session.usd": "null"}  # fmt: skip
        words = [f"llm.code.{name}={value}" for name, value in keys.items()]
        fixed = ["llm.feedback.provider=rules", "llm.feedback.model=rules", "agent.repairs=0", "search.batch=1"]
        ended = cli(*toy_words(1), *words, *fixed, "budget.usd=null", timeout=400)
        assert ended.code == 0, ended.err
    agents_run = cli.run_dir.name
    holder = cli.start(*toy_words(1), "--writer=external")
    told = eventually(lambda: [run for run in cli.runs if run.name != agents_run], PATIENCE)
    asked = eventually(lambda: (ended := cli("ask", told[0].name, "--json")).code == 0 and ended.json, 2 * PATIENCE)
    ticket = asked["ticket"]
    program = cli.folder / "mine.py"
    program.write_text("x = 1.75\n# of what the writer outside thinks about the number above\n")
    assert cli("tell", told[0].name, ticket, "--file", str(program)).code == 0
    assert holder.wait(PATIENCE) == 0
    with serving(cli.folder) as (address, _):
        page.goto(f"http://{address}/#/run/{agents_run}/writers")
        page.get_by_test_id("writers").get_by_text("agent/m").wait_for()
        sessions = page.get_by_test_id("sessions")
        for part in ("100 → 10", "program"):
            expect(sessions).to_contain_text(part)
        sessions.get_by_role("link").click()
        page.get_by_text("session", exact=True).click()
        session = page.get_by_test_id("session")
        session.get_by_text("I take <i>one</i> and a half").last.wait_for()
        for part in ("Find x near 2", "<b>bold</b>"):
            expect(session).to_contain_text(part)
        page.goto(f"http://{address}/#/run/{told[0].name}/writers")
        row = page.get_by_test_id("tickets").get_by_role("row").nth(1)
        row.get_by_text("told", exact=True).wait_for()
        expect(page.get_by_test_id("writers").get_by_text("external/client")).to_have_count(1)
