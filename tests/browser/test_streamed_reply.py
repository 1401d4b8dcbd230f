"""A model that writes slowly: what it has written so far is on the run's page, and the record holds the whole reply."""

from __future__ import annotations

import re
from typing import Any

import pytest
from support.chat_server import ChatServer
from support.command_line import Cli, toy_words
from support.dashboard import serving
from support.pages import PATIENCE
from support.processes import eventually

from core.storage.reader import RunReader

SAID = (
    "First <b>words</b> of a plan.\x1b[31m\n" + "It goes on and on.\n" * 40 + "```python\nx = 1.5\n```\nThe last words."
)


@pytest.mark.long
def test_a_reply_is_read_while_it_is_written(page: Any, cli: Cli) -> None:
    with ChatServer(lambda request, number: SAID) as server, serving(cli.folder) as (address, _):
        server.pauses = 0.15
        server.ends.clear()
        words = [*server.words(), "llm.code.stream=true", "search.batch=1", "agent.review=never", "llm.cache=false"]
        search = cli.start(*toy_words(1), *words)
        eventually(lambda: cli.runs, PATIENCE)
        page.goto(f"http://{address}/#/run/{cli.run_dir.name}/overview")
        reply = page.get_by_label(re.compile(r"Reply for \w+ so far"))
        reply.get_by_text("First <b>words</b> of a plan.").wait_for()
        so_far = reply.inner_text()
        assert "The last words." not in so_far and "\x1b" not in so_far
        page.get_by_text(re.compile(r"some \d+ tokens so far")).wait_for()
        server.ends.set()
        assert search.wait(PATIENCE) == 0
        reply.wait_for(state="detached")
    with RunReader(cli.run_dir) as reader:
        (call,) = [call for call in reader.calls() if call.provider == "openai"]
        assert call.reply == SAID and len(server.requests) == 1
    assert not (cli.run_dir / "live").exists()
