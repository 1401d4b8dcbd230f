"""`query()`, the one-shot form: what it refuses before anything is sent, and that it serves as an agent's query."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial

import pytest
from llmock.scenarios import Reply
from support.faulty_server import MODELS, FaultyServer

from agents.coder_agent import CoderAgent
from core.backend import PROVIDER_TO_QUERY, PROVIDERS, MemoryLog, query
from core.contracts import AgentContext
from core.state.task import Task
from utils.errors import ConfigError

PROGRAM = "A plan.\n```python\nprint('a program that is longer than fifty characters, so that it counts')\n```"


@pytest.fixture(scope="module")
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running


@pytest.fixture(autouse=True)
def fresh(server: FaultyServer) -> None:
    server.reset()


@pytest.mark.parametrize(
    ("provider", "variable"),
    [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY"), ("gemini", "GEMINI_API_KEY or GOOGLE_API_KEY")],
)
def test_without_a_key_it_says_so_in_one_line(provider: str, variable: str) -> None:
    """The switch for tests would make a request another error, so this refusal came before it."""
    with pytest.raises(ConfigError) as refused:
        query("s", "u", "some-model", provider=provider)
    assert str(refused.value) == (
        f"llm.code.provider={provider} needs a key: set {variable} in the environment, or llm.code.api_key"
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"provider": "openia"}, "llm.code.provider=openia: unknown (did you mean 'openai'?)"),
        ({"provider": "command", "command": "no-such-program"}, "there is no program 'no-such-program'"),
        ({"temprature": 0.1}, "llm.code.temprature"),
        ({"base_url": ""}, "llm.code.base_url is empty"),
        ({"base_url": "ftp://h.example"}, "begins with http:// or https://"),
        ({"base_url": "http://"}, "begins with http:// or https://, then has a host"),
        ({"base_url": "http://h.example:99999"}, "begins with http:// or https://"),
        ({"base_url": "http://h example"}, "begins with http:// or https://"),
    ],
)
def test_what_cannot_be_asked_is_refused(options: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        query("s", "u", "m", **{"api_key": "k", **options})  # type: ignore[arg-type]
    assert said in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.long
def test_the_seeds_table_asks_the_provider_of_its_key(server: FaultyServer) -> None:
    assert list(PROVIDER_TO_QUERY) == PROVIDERS.names()
    for provider in ("openai", "anthropic"):
        server.state.scenarios.add(Reply(text=f"I am {provider}"))
        ask = PROVIDER_TO_QUERY[provider]
        assert ask("s", "u", MODELS[provider], api_key="k", base_url=server.base_url(provider)) == f"I am {provider}"
    with pytest.raises(KeyError):
        PROVIDER_TO_QUERY["nobody"]


def test_bound_to_a_model_it_is_an_agents_query(server: FaultyServer) -> None:
    """The first reply has no program, so the agent asks again: its second question is another call of the record."""
    server.state.scenarios.add(Reply(text="```python\nx = 1\n```"), Reply(text=PROGRAM))
    log = MemoryLog()
    ask = partial(query, model=MODELS["openai"], api_key="k", base_url=server.base_url("openai"), log=log)
    task = Task(node_id="a1", operator="draft", round=0, slot=0, seed=1)
    result = CoderAgent().generate(AgentContext(task=task, statement="predict y", parents=(), query=ask))
    assert result.success and result.node is not None and "fifty" in result.node.code
    assert sorted(record.sample for record in log.records.values()) == ["0//code/0", "0//code/1"]
    bodies = [json.loads(bill.asked) for bill in server.layer.bills]
    assert len(bodies) == 2 and bodies[0] != bodies[1]
