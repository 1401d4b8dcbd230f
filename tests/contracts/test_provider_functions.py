"""A model that looks before it writes: functions called through each real SDK over HTTP, answered in its own form."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from llmock.scenarios import Fail, Reply, ToolCall
from pydantic import SecretStr
from support.faulty_server import MODELS, FaultyServer

from core.backend import Ledger, MemoryLog, ModelClient, ModelSettings
from core.contracts import Toolbox
from utils.errors import ReplyError

LOOK = Reply(tool_calls=(ToolCall("run_python", {"code": "print(6 * 7)"}),))


class Calculator(Toolbox):
    """Answers every program with 42."""

    tools = (
        {
            "name": "run_python",
            "description": "Run it.",
            "parameters": {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
        },
    )
    most_calls = 3
    most: Mapping[str, int] = {}
    seconds = 5.0

    def __init__(self) -> None:
        self.ran: list[str] = []

    def call(self, name: str, arguments: Mapping[str, Any], seconds: float) -> str:
        assert 0 < seconds <= self.seconds
        self.ran.append(arguments["code"])
        return "42"


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running


@pytest.fixture(params=["openai", *(pytest.param(name, marks=pytest.mark.long) for name in MODELS if name != "openai")])
def provider(request) -> str:
    return str(request.param)


@pytest.fixture(params=["whole", "stream"])
def model(request, provider, server, monkeypatch) -> ModelSettings:
    monkeypatch.setenv("SWARM_EVO_TEST_NO_NETWORK", "1")
    return ModelSettings(
        provider=provider, model=MODELS[provider], api_key=SecretStr("sk-planted"), base_url=server.base_url(provider),
        backoff=0.01, attempts=2, stream=request.param == "stream",
    )  # fmt: skip


def asked(model: ModelSettings, toolbox: Toolbox, log: MemoryLog, **more: Any) -> tuple[str, ModelClient]:
    client = ModelClient({"code": model}, log=log, **more)
    try:
        return client.bind("code", "n1")("You write.", "Write a program.", toolbox=toolbox), client
    finally:
        client.close()


def script(server: FaultyServer, *steps: Any) -> None:
    for step in steps:
        server.state.scenarios.add(step)


def answered(provider: str, body: dict[str, Any]) -> tuple[str, Any, str]:
    """(function, its arguments, its answer) of the last call that a request holds, in the provider's own form."""
    if provider == "openai":
        call, result = body["messages"][-2]["tool_calls"][0], body["messages"][-1]
        assert (result["role"], result["tool_call_id"]) == ("tool", call["id"])
        return call["function"]["name"], json.loads(call["function"]["arguments"]), result["content"]
    if provider == "openai-responses":
        call, result = body["input"][-2:]
        assert (call["type"], result["type"], result["call_id"]) == (
            "function_call", "function_call_output", call["call_id"],
        )  # fmt: skip
        assert "id" not in call, "with one OpenAI wants the thoughts before it"
        return call["name"], json.loads(call["arguments"]), result["output"]
    if provider == "anthropic":
        call, result = body["messages"][-2]["content"][-1], body["messages"][-1]["content"][0]
        assert (call["type"], result["type"], result["tool_use_id"]) == ("tool_use", "tool_result", call["id"])
        return call["name"], call["input"], result["content"]
    call, result = body["contents"][-2]["parts"][-1], body["contents"][-1]["parts"][0]
    assert call["thoughtSignature"], "without one Google refuses a call that it did not make itself"
    call, result = call["functionCall"], result["functionResponse"]
    assert call["name"] == result["name"]
    return call["name"], call["args"], result["response"]["result"]


def may_call(provider: str, body: dict[str, Any]) -> str:
    """What the request says of calling, in the provider's word."""
    if provider in ("openai", "openai-responses"):
        return str(body["tool_choice"])
    if provider == "anthropic":
        return str(body["tool_choice"]["type"])
    return str(body["toolConfig"]["functionCallingConfig"]["mode"]).lower()


@pytest.mark.parametrize("name", ["multi_tool_use.parallel", "run python!", "x" * 100])
def test_a_name_that_a_model_makes_up_is_sent_back_as_one_that_providers_take(provider, model, server, name):
    """They refuse a request that holds another, also where their own model said it: the run ended by that."""
    script(server, Reply(tool_calls=(ToolCall(name, {}),)), Reply(text="x = 42"))
    assert asked(model, Calculator(), MemoryLog())[0] == "x = 42"
    told, _, result = answered(provider, json.loads(server.layer.bills[1].asked))
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", told) and "there is no function" in result and name[:80] in result


def test_the_answer_comes_back_in_the_providers_own_form(provider, model, server):
    script(server, LOOK, Reply(text="x = 42"))
    toolbox, log = Calculator(), MemoryLog()
    text, client = asked(model, toolbox, log, ledger=Ledger(tokens=100_000))
    assert text == "x = 42" and toolbox.ran == ["print(6 * 7)"]
    first, second = (json.loads(bill.asked) for bill in server.layer.bills)
    assert may_call(provider, first) == may_call(provider, second) == "auto"
    assert answered(provider, second) == ("run_python", {"code": "print(6 * 7)"}, "42")
    usage = client.usage_of("n1")
    assert usage.looks == {"run_python": 1} and usage.calls == 2
    assert (usage.prompt_tokens or 0) + (usage.completion_tokens or 0) == client.ledger.spent.tokens > 0


def test_what_is_recorded_is_neither_asked_nor_run_again(provider, model, server):
    script(server, LOOK, Reply(text="x = 42"))
    log = MemoryLog()
    asked(model, Calculator(), log)
    requests, again = server.layer.requests, Calculator()
    text, client = asked(model, again, log, offline=True)
    assert (text, again.ran, server.layer.requests) == ("x = 42", [], requests)
    assert client.usage_of("n1").looks == {"run_python": 1}


def test_calls_are_bounded_and_then_it_writes(provider, model, server):
    script(server, LOOK, LOOK, LOOK, Reply(text="x = 42"))
    toolbox = Calculator()
    assert asked(model, toolbox, MemoryLog())[0] == "x = 42"
    assert len(toolbox.ran) == Calculator.most_calls
    assert may_call(provider, json.loads(server.layer.bills[-1].asked)) == "none"


def test_one_that_never_writes_is_a_reply_that_cannot_be_read(provider, model, server):
    script(server, LOOK, LOOK, LOOK, LOOK)
    with pytest.raises(ReplyError, match="where it was to write"):
        asked(model, Calculator(), MemoryLog())


def test_a_call_that_is_none_is_told_what_is_wrong(provider, model, server):
    wrong = Reply(tool_calls=(ToolCall("run_python", {"source": "1"}),))
    script(server, Reply(tool_calls=(ToolCall("look_up", {}),)), wrong, Reply(text="x = 42"))
    toolbox = Calculator()
    assert asked(model, toolbox, MemoryLog())[0] == "x = 42" and toolbox.ran == []
    second, third = (json.loads(bill.asked) for bill in server.layer.bills[1:])
    assert "there is no function" in answered(provider, second)[2]
    assert "code" in answered(provider, third)[2]


def test_a_server_that_knows_no_functions_is_asked_without(provider, model, server):
    script(server, Fail(400, message="tools are not supported"), Reply(text="x = 42"))
    assert asked(model, Calculator(), MemoryLog())[0] == "x = 42"
    assert "tools" not in json.loads(server.layer.bills[-1].asked)


class Slow(Calculator):
    """Takes all of its seconds at once."""

    seconds = 0.05

    def call(self, name: str, arguments: Mapping[str, Any], seconds: float) -> str:
        import time

        time.sleep(0.1)
        return super().call(name, arguments, seconds)


def test_seconds_are_bounded(provider, model, server):
    script(server, LOOK, LOOK, Reply(text="x = 42"))
    toolbox = Slow()
    assert asked(model, toolbox, MemoryLog())[0] == "x = 42" and len(toolbox.ran) == 1
    assert "seconds for calls are used" in answered(provider, json.loads(server.layer.bills[-1].asked))[2]
