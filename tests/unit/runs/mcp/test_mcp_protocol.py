"""The protocol by itself: both ages, wrong messages, long calls."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.control import MAX_NOTE
from runs.mcp.handlers import handler_of
from runs.mcp.tools import INSTRUCTIONS, ROLES
from utils.errors import ConfigError
from utils.mcp_protocol import SERVER_KEY, VERSION_KEY, Call, McpServer, Tool, wrong

TOOLS = [
    Tool("echo", "Say it again.", {"text": {"type": "string"}, "n": {"type": "integer"}}, {}, ("text",), reads=True)
]
MODERN = {"_meta": {VERSION_KEY: "2026-07-28"}}


def echo(name: str, arguments: dict[str, Any], call: Call) -> dict[str, Any]:
    call.progress("under way")
    return {"error": "no"} if arguments["text"] == "fail" else {"said": arguments["text"]}


def answers(*messages: Any, handle: Any = echo) -> list[dict[str, Any]]:
    """What a server writes, when all its calls have ended."""
    written: list[str] = []
    before = set(threading.enumerate())
    server = McpServer(TOOLS, handle, written.append, version="1")
    server.serve([message if isinstance(message, str) else json.dumps(message) for message in messages])
    for thread in set(threading.enumerate()) - before:
        thread.join(60)
    return [json.loads(line) for line in written]


def request(method: str, params: Any = None, number: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, **({} if params is None else {"params": params})}


@pytest.mark.parametrize(
    ("asked", "got"), [("2025-11-25", "2025-11-25"), ("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-11-25")]
)
def test_a_handshake_settles_on_a_version_that_both_know(asked, got):
    (answer,) = answers(request("initialize", {"protocolVersion": asked}))
    assert answer["result"]["protocolVersion"] == got
    assert answer["result"]["serverInfo"]["name"] == "swarm-evo"


def test_without_a_handshake_every_answer_says_who_gives_it():
    found, tools, called = answers(
        request("server/discover", MODERN, 1),
        request("tools/list", MODERN, 2),
        request("tools/call", {**MODERN, "name": "echo", "arguments": {"text": "x"}}, "three"),
    )
    assert found["result"]["supportedVersions"][0] == "2026-07-28"
    assert tools["result"]["ttlMs"] > 0 and tools["result"]["cacheScope"] == "public"
    assert called["id"] == "three" and called["result"]["structuredContent"] == {"said": "x"}
    for answer in (found, tools, called):
        assert answer["result"]["resultType"] == "complete"
        assert answer["result"]["_meta"][SERVER_KEY]["name"] == "swarm-evo"


def test_an_unknown_version_is_told_the_known_ones():
    (answer,) = answers(request("tools/list", {"_meta": {VERSION_KEY: "2031-01-01"}}))
    assert answer["error"]["code"] == -32022 and "2026-07-28" in answer["error"]["data"]["supported"]


def test_a_handshake_answer_holds_nothing_of_the_other_age():
    (answer,) = answers(request("tools/list"))
    assert set(answer["result"]) == {"tools"}


def test_progress_is_told_to_who_asked_for_it():
    params = {"name": "echo", "arguments": {"text": "x"}}
    assert [message.get("method") for message in answers(request("tools/call", params))] == [None]
    told = answers(request("tools/call", {**params, "_meta": {"progressToken": "p"}}))
    assert told[0]["params"] == {"progressToken": "p", "progress": 1, "message": "under way"}


def test_a_failed_call_is_a_result_and_a_wrong_one_is_told_what_is_allowed():
    failed, missing, unknown, kind, tool = sorted(
        answers(
            request("tools/call", {"name": "echo", "arguments": {"text": "fail"}}, 1),
            request("tools/call", {"name": "echo", "arguments": {}}, 2),
            request("tools/call", {"name": "echo", "arguments": {"text": "x", "txt": 1}}, 3),
            request("tools/call", {"name": "echo", "arguments": {"text": "x", "n": True}}, 4),
            request("tools/call", {"name": "ech"}, 5),
        ),
        key=lambda message: message["id"],
    )
    assert failed["result"]["isError"] and failed["result"]["structuredContent"] == {"error": "no"}
    assert missing["result"]["structuredContent"]["error"] == "echo: text is missing"
    assert unknown["result"]["structuredContent"]["error"].endswith("there is no argument 'txt'; there are text, n")
    assert kind["result"]["structuredContent"]["error"] == "echo: n is to be of type integer"
    assert tool["error"]["code"] == -32602 and "there are echo" in tool["error"]["message"]


def test_a_cancelled_call_is_not_answered():
    gone = threading.Event()

    def slow(name: str, arguments: dict[str, Any], call: Call) -> dict[str, Any]:
        assert call.cancelled.wait(60)
        gone.set()
        return {}

    told = answers(
        request("tools/call", {"name": "echo", "arguments": {"text": "x"}}, 7),
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}},
        handle=slow,
    )
    assert told == [] and gone.is_set()


WORDS = st.sampled_from(["id", "method", "params", "_meta", "name", "arguments", "x"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(["tools/call", "echo"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=10,
)


@given(ANYTHING)
def test_whatever_is_sent_the_server_lives_on(message):
    told = answers(message, request("ping", number=99))
    assert {"jsonrpc": "2.0", "id": 99, "result": {}} in told


METHODS = ["initialize", "server/discover", "tools/list", "tools/call", "ping", "notifications/cancelled", "other"]
FIELDS = ["requestId", "_meta", "name", "arguments", "clientInfo", "protocolVersion", "progressToken", VERSION_KEY]
FILLED = st.dictionaries(st.sampled_from(FIELDS), ANYTHING | st.dictionaries(st.sampled_from(FIELDS), ANYTHING))


@given(st.sampled_from(METHODS), FILLED, ANYTHING, st.booleans())
def test_whatever_a_known_method_is_given_the_server_lives_on(method, params, number, notifies):
    """`requestId: [1]` in a cancellation ended the server, and with it every call of its client."""
    message = {"jsonrpc": "2.0", "method": method, "params": params, **({} if notifies else {"id": number})}
    assert {"jsonrpc": "2.0", "id": 99, "result": {}} in answers(message, request("ping", number=99))


@pytest.mark.parametrize("line", ["{", "[]", "3", '"x"', "[" * 100_000])
def test_what_is_no_request_is_answered_as_such(line):
    (answer,) = answers(line)
    assert answer["id"] is None and answer["error"]["code"] in (-32700, -32600)


def test_the_table_is_what_a_client_can_read():
    names = [tool.name for tools in ROLES.values() for tool in tools]
    assert len(names) == len(set(names)) == 17
    for tools in ROLES.values():
        for tool in tools:
            assert set(tool.needed) <= set(tool.arguments) and "next" in tool.answer
            assert wrong(tool, {name: _some(schema) for name, schema in tool.arguments.items()}) == ""
            assert len(tool.text) < 700
    for name in ("plan_run", "start_run", "ask", "tell", "export_best"):
        assert name in INSTRUCTIONS
    assert len(INSTRUCTIONS) < 2000


def _some(schema: dict[str, Any]) -> Any:
    return schema.get("enum", [None])[0] or {"string": "x", "integer": 1, "number": 1.5, "object": {}}[schema["type"]]


@pytest.mark.parametrize("more", [{}, {"method": 5}, {"method": None, "params": {}}])
def test_whoever_names_no_method_hears_so(more):
    (found,) = answers({"jsonrpc": "2.0", "id": 1, **more})
    assert found["id"] == 1 and found["error"]["code"] == -32600
    assert answers({"jsonrpc": "2.0", "id": 1, "result": {}}) == []


def test_a_text_that_is_longer_than_its_tool_takes_is_refused_and_not_cut():
    (note,) = [tool for tools in ROLES.values() for tool in tools if tool.name == "note"]
    assert wrong(note, {"text": "x" * MAX_NOTE}) == ""
    assert wrong(note, {"text": "x" * (MAX_NOTE + 1)}) == "note: text has 2001 characters; allowed: at most 2000"


@pytest.mark.parametrize("seconds", ["1" + "0" * 400, "1e400", "-1e400", "NaN", "9007199254740993"])
def test_a_number_that_no_float_holds_is_refused(seconds):
    """`wait_s` of 401 digits was an OverflowError of ours, and infinity passed wherever no least value stood."""
    (plan,) = [tool for tools in ROLES.values() for tool in tools if tool.name == "plan_run"]
    assert "seconds is no number that a computer counts with" in wrong(plan, {"seconds": json.loads(seconds)})
    assert wrong(plan, {"seconds": 60, "usd": 0.5}) == ""


def test_a_handler_that_raises_is_a_failed_call_and_not_silence():
    def breaks(*_: Any) -> dict[str, Any]:
        raise ConnectionError("no way")

    (answer,) = answers(request("tools/call", {"name": "echo", "arguments": {"text": "x"}}), handle=breaks)
    assert answer["result"]["isError"] and "ConnectionError: no way" in answer["result"]["structuredContent"]["error"]


def test_without_room_for_a_thread_a_call_is_answered_all_the_same(monkeypatch):
    def full(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", full)
    call = {"name": "echo", "arguments": {"text": "x"}}
    first, second = answers(request("tools/call", call, 1), request("tools/call", call, 2))
    assert (first["id"], second["id"]) == (1, 2) and second["result"]["structuredContent"] == {"said": "x"}


def test_a_configuration_that_cannot_be_read_is_an_answer():
    """It was asked for once more, for the words of the refusal: the client waited for good."""

    def folder() -> str:
        raise ConfigError("search.max_steps='many': allowed: whole number >= 0 | null")

    found = handler_of(folder, {"list_runs"})("list_runs", {}, Call(lambda message: None, None))
    assert found == {"error": "steps='many': allowed: whole number >= 0 | null", "next": "list_runs"}
