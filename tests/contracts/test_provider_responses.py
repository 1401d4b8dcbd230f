"""What servers that speak OpenAI's Responses API say: read, paid once, or told for what it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import SecretStr
from support.raw_server import Answer, RawServer, answering_once, streamed, whole

from core.backend import Ledger, MemoryLog, ModelClient, ModelSettings
from core.backend.preflight import check_model
from core.backend.settings import Price
from utils.errors import (
    BackendAuthError,
    BackendBusyError,
    ConfigError,
    CutReplyError,
    LostReplyError,
    RefusedError,
    ReplyError,
    UnwantedPromptError,
)

KEY = "sk-planted-0123456789"
PROGRAM = "def f(): pass"
PARAMETERS = {"type": "object", "properties": {"sum": {"type": "integer"}, "why": {"type": "string"}}}
TOOL = {"name": "report", "description": "Report it.", "parameters": PARAMETERS}
USAGE = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 5,
         "output_tokens_details": {"reasoning_tokens": 3}, "total_tokens": 15}  # fmt: skip
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "```python\nno\n```"}]}
CREATED = {"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}}


def message(*texts: str) -> dict[str, Any]:
    parts = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": parts}


def call(arguments: Any, name: str = "report") -> dict[str, Any]:
    return {"type": "function_call", "id": "fc_1", "call_id": "call_x", "name": name, "arguments": arguments}


def response(*output: dict[str, Any], status: str = "completed", **more: Any) -> dict[str, Any]:
    return {"id": "r", "object": "response", "status": status, "output": list(output), "error": None, "usage": USAGE,
            **more}  # fmt: skip


def end(*output: dict[str, Any], status: str = "completed", **more: Any) -> dict[str, Any]:
    return {"type": f"response.{status}", "response": response(*output, status=status, **more)}


def text(piece: str, place: int = 1) -> dict[str, Any]:
    return {"type": "response.output_text.delta", "output_index": place, "content_index": 0, "delta": piece}


def item(event: str, item: dict[str, Any], place: int = 1) -> dict[str, Any]:
    return {"type": f"response.output_item.{event}", "output_index": place, "item": item}


THINKS = item("added", THOUGHT, 0)


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWARM_EVO_TEST_NO_NETWORK", "1")


@pytest.fixture
def answers() -> Iterator[RawServer]:
    """Answers as `answers.says` has it."""
    with RawServer(lambda request: server.says) as server:  # type: ignore[attr-defined]
        yield server


def client_of(server: RawServer, says: Answer, **more: Any) -> ModelClient:
    server.says = says  # type: ignore[attr-defined]
    usual: dict[str, Any] = {"attempts": 3, "backoff": 0.01, "price": Price(1.0, 2.0, 0.5), "max_tokens": 1000}
    settings = ModelSettings(
        provider="openai-responses", model="m", api_key=SecretStr(KEY),
        **{"base_url": f"{server.url}/v1", **usual, "stream": says[1] == "text/event-stream", **more},
    )  # fmt: skip
    return ModelClient({"code": settings}, log=MemoryLog(), ledger=Ledger(), notice=lambda reason, wait: None)


def reply(client: ModelClient, **more: Any) -> str:
    try:
        return client.bind("code", "n1")("You write.", "Write a program.", **more)
    finally:
        client.close()


TEXTS = {
    "whole": whole(response(THOUGHT, message("def f():", " pass"))),
    "piece by piece": streamed(
        CREATED, THINKS, item("done", THOUGHT, 0), item("added", message()), text("def f()"), text(": pass"),
        {"type": "response.output_text.done", "output_index": 1, "content_index": 0, "text": PROGRAM},
        item("done", message(PROGRAM)), end(THOUGHT, message(PROGRAM)),
    ),
    "each item at its end": streamed(CREATED, item("done", THOUGHT, 0), item("done", message(PROGRAM)), end()),
    "all of it at the end": streamed(CREATED, end(THOUGHT, message(PROGRAM))),
}  # fmt: skip


@pytest.mark.parametrize("form", TEXTS)
def test_a_text_is_read_and_paid_once(form: str, answers: RawServer) -> None:
    client = client_of(answers, TEXTS[form])
    assert reply(client) == PROGRAM
    spent, lost = client.ledger.spent, client.ledger.lost
    assert len(answers.asked) == 1 and (spent.tokens, lost.tokens) == (15, 0)
    assert spent.usd == pytest.approx((6 * 1.0 + 4 * 0.5 + 5 * 2.0) / 1e6), "thoughts are part of the reply's tokens"


def test_a_server_that_does_not_stream_is_heard_all_the_same(answers: RawServer) -> None:
    assert reply(client_of(answers, TEXTS["whole"], stream=True)) == PROGRAM


def test_what_is_announced_before_a_program_is_a_message_of_its_own(answers: RawServer) -> None:
    said = "I write it now.\n\n```python\nx = 1\n```"
    first, program = message("I write it now."), message("```python\nx = 1\n```")
    assert reply(client_of(answers, whole(response(first, program)))) == said
    pieces = (text("I write it now.", 0), text("```python\n"), text("x = 1\n```"))
    assert reply(client_of(answers, streamed(CREATED, *pieces, end(first, program)))) == said


def piece(arguments: str, place: int = 1) -> dict[str, Any]:
    return {"type": "response.function_call_arguments.delta", "output_index": place, "delta": arguments}


CALLS = {
    "whole": whole(response(THOUGHT, call('{"sum": 5}'), call('{"sum": 6}'))),
    "read already": whole(response(call({"sum": 5}))),
    "piece by piece": streamed(
        CREATED, item("added", call("")), item("added", call("", "other"), 2), piece('{"sum"'), piece("no", 2),
        piece(": 5}"), item("done", call('{"sum": 5}')), item("done", call("no", "other"), 2), end(),
    ),
    "each item at its end": streamed(CREATED, item("done", call('{"sum": 5}')), item("done", call("no"), 2), end()),
    "all of it at the end": streamed(CREATED, end(THOUGHT, call('{"sum": 5}'))),
}  # fmt: skip


@pytest.mark.parametrize("form", CALLS)
def test_of_several_calls_the_first_is_read(form: str, answers: RawServer) -> None:
    assert json.loads(reply(client_of(answers, CALLS[form]), tools=[TOOL])) == {"sum": 5}
    assert len(answers.asked) == 1


def failed(code: str, told: str) -> dict[str, Any]:
    error = {"code": code, "message": f"{told} ({KEY})"}
    return {"type": "response.failed", "response": {"id": "r", "status": "failed", "output": [], "error": error}}


REFUSALS = [
    ("rate_limit_exceeded", "slow down", BackendBusyError, 3),
    ("server_is_overloaded", "later", BackendBusyError, 3),
    ("insufficient_quota", "pay", BackendAuthError, 1),
    ("invalid_api_key", "who?", BackendAuthError, 1),
    ("context_length_exceeded", "it is too much", UnwantedPromptError, 1),
    ("invalid_prompt", "no", UnwantedPromptError, 1),
]


@pytest.mark.parametrize(("code", "said", "wanted", "requests"), REFUSALS)
@pytest.mark.parametrize("form", ["whole", "failed", "error", "nested error"])
def test_a_refusal_behind_the_status_200_costs_nothing(
    code: str, said: str, wanted: type[Exception], requests: int, form: str, answers: RawServer
) -> None:
    event = failed(code, said)
    error = event["response"]["error"]
    if form == "error":
        event = {"type": "error", "param": None, **error}
    elif form == "nested error":
        event = {"type": "error", "error": error}
    says = whole(event["response"]) if form == "whole" else streamed(CREATED, event)
    client = client_of(answers, says)
    with pytest.raises(wanted, match=said.replace("?", r"\?")) as raised:
        reply(client)
    assert type(raised.value) is wanted and KEY not in str(raised.value)
    assert len(answers.asked) == requests and client.ledger.lost.tokens == client.ledger.spent.tokens == 0


BROKEN = {
    "failed": streamed(CREATED, THINKS, failed("rate_limit_exceeded", "it broke off")),
    "an error": streamed(CREATED, text("def"), {"type": "error", "code": "server_error", "message": "it broke off"}),
    "a fault of the server's": streamed(CREATED, failed("server_error", "it broke off")),
    "the same, whole": whole(failed("server_error", "it broke off")["response"]),
    "no end": streamed(CREATED, text("def f(")),
    "in work": whole(response(message("def f("), status="in_progress")),
    "cancelled": whole(response(message("def f("), status="cancelled")),
    "no response": whole({"object": "list", "data": []}),
    "no event": streamed([]),
}


@pytest.mark.parametrize("form", BROKEN)
def test_a_reply_that_broke_off_is_none_and_may_be_billed(form: str, answers: RawServer) -> None:
    client = client_of(answers, BROKEN[form])
    with pytest.raises(LostReplyError, match=r"broke off|cut off|no response|no JSON object"):
        reply(client)
    assert len(answers.asked) == 3 and client.ledger.lost.tokens > 3 * 1000


REFUSED = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "I can't."}]}
FILTER = {"incomplete_details": {"reason": "content_filter"}}
WITHHELD = {
    "a refusal": whole(response(THOUGHT, REFUSED)),
    "one in pieces": streamed(CREATED, {"type": "response.refusal.delta", "delta": "I can't."}, end(REFUSED)),
    "a filter": whole(response(message("def"), status="incomplete", **FILTER)),
    "one in a stream": streamed(CREATED, text("def"), end(message("def"), status="incomplete", **FILTER)),
    "a policy": streamed(CREATED, THINKS, failed("cyber_policy", "it is flagged")),
}


@pytest.mark.parametrize("form", WITHHELD)
def test_what_is_withheld_is_told_and_not_asked_again(form: str, answers: RawServer) -> None:
    client = client_of(answers, WITHHELD[form])
    with pytest.raises(ReplyError, match="withheld"):
        reply(client)
    assert len(answers.asked) == 1 and client.ledger.spent.tokens > 0 and client.ledger.lost.tokens == 0


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_reply_that_was_cut_holds_what_came(is_streamed: bool, answers: RawServer) -> None:
    cut = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    output = (THOUGHT, message("def f("))
    says = streamed(CREATED, text("def f("), end(*output, **cut)) if is_streamed else whole(response(*output, **cut))
    client = client_of(answers, says)
    with pytest.raises(CutReplyError, match=r"cut at llm\.code\.max_tokens=1000") as raised:
        reply(client)
    assert raised.value.text == "def f(" and client.ledger.spent.tokens == 15


def test_the_request_is_what_the_api_takes(answers: RawServer) -> None:
    effort = {"reasoning": {"effort": "high"}}
    reply(client_of(answers, TEXTS["whole"], temperature=0.5, extra=effort, reasoning=True))
    (asked,) = answers.asked
    assert asked == {
        "model": "m", "instructions": "You write.", "input": [{"role": "user", "content": "Write a program."}],
        "max_output_tokens": 1000, "store": False, **effort,
    }  # fmt: skip
    assert answers.paths == ["/v1/responses"] and answers.headers[0]["authorization"] == f"Bearer {KEY}"
    reply(client_of(answers, TEXTS["piece by piece"], temperature=0.5))
    assert (answers.asked[1]["temperature"], answers.asked[1]["stream"]) == (0.5, True)


def test_tool_and_schema_are_asked_for_in_its_own_form(answers: RawServer) -> None:
    """Functions are strict unless it is said that they are not, and then each property would be required."""
    client = client_of(answers, whole(response(message("Five, I say."))), extra={"text": {"verbosity": "low"}})
    with pytest.raises(ReplyError):
        reply(client, tools=[TOOL])
    forced, schema, fence = answers.asked[:3]
    assert forced["tools"] == [{"type": "function", **TOOL, "strict": False}]
    assert forced["tool_choice"] == {"type": "function", "name": "report"}
    form = {"type": "json_schema", "name": "report", "schema": PARAMETERS}
    assert schema["text"] == {"verbosity": "low", "format": form} and "tools" not in schema
    assert fence["text"] == {"verbosity": "low"} and "```json" in fence["input"][0]["content"]
    repair = answers.asked[3]["input"]
    assert [turn["role"] for turn in repair] == ["user", "assistant", "user"]


@pytest.mark.parametrize("written", ["/v1", "/v1/", "/v1/responses"])
def test_an_address_may_be_written_as_people_write_it(written: str, answers: RawServer) -> None:
    client = client_of(answers, whole({"error": {"message": "Not Found"}}, 404), base_url=answers.url + written)
    with pytest.raises(RefusedError, match=r"HTTP 404: Not Found; see llm\.code\.base_url$"):
        reply(client)
    assert answers.paths == ["/v1/responses"]


def test_a_stream_is_left_at_its_end() -> None:
    """Nothing says `[DONE]`, and a connection may stay open: the reply would be lost at the deadline."""
    _, kind, body = TEXTS["piece by piece"]
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode()
    with answering_once(head + body.removesuffix(b"data: [DONE]\n\n"), until_left=True) as address:
        settings = ModelSettings(
            provider="openai-responses", model="m", api_key=SecretStr(KEY), attempts=1, stream=True, timeout=30,
            base_url=f"{address}/v1",
        )  # fmt: skip
        client = ModelClient({"code": settings}, log=MemoryLog(), ledger=Ledger())
        assert reply(client) == PROGRAM


def test_a_reply_that_nobody_waits_for_is_refused_before_the_run() -> None:
    settings = ModelSettings(provider="openai-responses", model="m", api_key=SecretStr(KEY), extra={"background": True})
    with pytest.raises(ConfigError, match=r"^llm\.code\.extra\.background: .* set llm\.code\.timeout$"):
        check_model(settings)
