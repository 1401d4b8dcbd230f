"""The protocol by itself: both ages, wrong messages, long calls."""

from __future__ import annotations

import io
import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.control import MAX_NOTE
from runs.mcp.handlers import LONGEST_ERROR, handler_of
from runs.mcp.tools import INSTRUCTIONS, ROLES
from utils.errors import ConfigError
from utils.mcp_lines import LONGEST_LINE, lines_of
from utils.mcp_protocol import MOST_CALLS, SERVER_KEY, VERSION_KEY, Call, McpServer
from utils.mcp_tool import Tool, wrong

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


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ({"id": True, "method": "ping"}, None), ({"id": 1.0, "method": "ping"}, None),
        ({"id": None, "method": "ping"}, None), ({"id": [1], "method": "ping"}, None),
        ({"id": 2**70, "method": "ping"}, 2**70), ({"id": "", "method": "ping"}, ""),
        ({"id": "\ud800", "method": "ping"}, "\ud800"),
        ({"id": 5, "method": "tools/call", "params": [1]}, 5), ({"id": 6, "method": "ping", "params": "x"}, 6),
    ],
)  # fmt: skip
def test_every_request_has_one_answer_under_the_id_that_it_may_have(message, told):
    """`true` was taken for 1, `null` was not answered, and positional params were refused under no id."""
    (found,) = answers({"jsonrpc": "2.0", **message})
    assert found["id"] == told and type(found["id"]) is type(told)
    assert ("result" in found) == (told is not None and "params" not in message)


def test_a_notice_with_an_empty_id_is_a_notice():
    assert answers({"jsonrpc": "2.0", "id": None, "method": "notifications/initialized"}) == []


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ('{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "' + "x" * 2000, 7),
        ('{"method":"tools/call","params":{"name":"' + "x" * 2000 + '\x01"},"jsonrpc":"2.0","id":8}', 8),
        ('{"id":"a b","method":"tools/call" ' + "x" * 2000, "a b"),
        ('{"method":"tools/call","params":{"a":"' + "x" * 2000 + ' \\"id\\":9}', None),
        ('{"method":"tools/call","params":{"a":"' + "x" * 2000 + '","id":9}}', None),
        ('{"id":007,"method":', 7),
        ("{", None),
    ],
)
def test_who_waits_for_a_line_that_cannot_be_read_hears_of_it(line, number):
    """Under no id, a client waits for that request until its own time is up."""
    (found,) = answers(line if number is not None else f"{line}!")
    assert found["error"]["code"] == -32700 and found["id"] == number


class Sent(io.RawIOBase):
    """What a client wrote, part by part."""

    def __init__(self, parts: list[bytes]) -> None:
        self._left = parts

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        part = self._left.pop(0) if self._left else b""
        room[: len(part)] = part[: len(room)]
        if len(part) > len(room):
            self._left.insert(0, part[len(room) :])
        return min(len(part), len(room))


def test_a_line_that_is_too_long_is_never_held_and_told_under_its_id():
    begins = b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"'
    ends = b'"},"id":12}\n{"jsonrpc":"2.0","id":13,"method":"ping"}\n'
    parts = [begins, *[b"x" * (1 << 20)] * 64, ends]
    lines = list(lines_of(io.BufferedReader(Sent(parts))))
    assert [len(line) <= LONGEST_LINE + 1 for line in lines] == [True, True]
    written: list[str] = []
    McpServer(TOOLS, echo, written.append, version="1").serve(lines)
    long, short = map(json.loads, written)
    assert long["id"] == 12 and "hand in less" in long["error"]["message"] and short["id"] == 13


def test_what_would_take_far_more_memory_than_it_has_bytes_is_refused():
    line = '{"jsonrpc":"2.0","id":3,"method":"ping","params":{"x":[' + "[]," * 2_000_000 + "[]]}}"
    (found,) = answers(line)
    assert found["id"] == 3 and "MB" in found["error"]["message"]


def waiting(gate: threading.Event) -> Callable[..., dict[str, Any]]:
    def handle(name: str, arguments: dict[str, Any], call: Call) -> dict[str, Any]:
        assert gate.wait(60) or call.cancelled.is_set()
        return {"said": arguments["text"]}

    return handle


def test_more_calls_than_a_client_can_wait_for_are_told_to_come_again():
    gate, written = threading.Event(), list[str]()
    server = McpServer(TOOLS, waiting(gate), written.append, version="1")

    def lines() -> Any:
        for number in range(MOST_CALLS + 2):
            yield json.dumps(request("tools/call", {"name": "echo", "arguments": {"text": "x"}}, number))
        gate.set()

    server.serve(lines())
    found = [json.loads(line) for line in written]
    assert sorted(one["id"] for one in found) == list(range(MOST_CALLS + 2)), "each is answered once"
    refused = [one["id"] for one in found if one["result"]["isError"]]
    assert refused == [MOST_CALLS, MOST_CALLS + 1]


def test_an_id_that_is_given_away_twice_has_two_answers_and_a_cancellation_finds_the_newer_call():
    gates = threading.Event(), threading.Event()
    order: list[str] = []

    def handle(name: str, arguments: dict[str, Any], call: Call) -> dict[str, Any]:
        gates[int(arguments["text"])].wait(60)
        order.append(f"{arguments['text']} {call.cancelled.is_set()}")
        return {"said": arguments["text"]}

    written: list[str] = []
    server = McpServer(TOOLS, handle, written.append, version="1")

    def lines() -> Any:
        for text in ("0", "1"):
            yield json.dumps(request("tools/call", {"name": "echo", "arguments": {"text": text}}, 7))
        gates[0].set()
        while not written:
            threading.Event().wait(0.01)
        yield json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
        gates[1].set()

    server.serve(lines())
    for thread in threading.enumerate():
        if thread.name == "echo":
            thread.join(60)
    assert order == ["0 False", "1 True"] and len(written) == 1


ODD = [
    ({"said": float("nan")}, {"said": None}), ({"said": ["\ud800x", {"\udfff": 1.5}]}, {"said": ["?x", {"?": 1.5}]}),
    ({"said": (1, 2)}, {"said": [1, 2]}),
]  # fmt: skip


@pytest.mark.parametrize(("result", "told"), ODD)
def test_an_answer_is_json_that_every_reader_takes(result, told):
    """`NaN` and half characters are none to a client in Rust: it drops the line, and waits for good."""
    written: list[str] = []
    server = McpServer(TOOLS, lambda *_: result, written.append, version="1", at_once=True)
    server.serve([json.dumps(request("tools/call", {"name": "echo", "arguments": {"text": "x"}}))])
    found = json.loads(written[0], parse_constant=pytest.fail)["result"]
    assert found["structuredContent"] == json.loads(found["content"][0]["text"]) == told
    written[0].encode()
    assert "\\ud800" not in written[0]


def whole_in_itself() -> dict[str, Any]:
    found: dict[str, Any] = {}
    found["said"] = found
    return found


@pytest.mark.parametrize("handle", [lambda *_: {"said": {1, 2}}, lambda *_: whole_in_itself(), lambda *_: sys.exit(3)])
def test_what_is_no_json_and_who_leaves_are_failed_calls_and_not_silence(handle):
    (answer,) = answers(request("tools/call", {"name": "echo", "arguments": {"text": "x"}}), handle=handle)
    assert answer["result"]["isError"] and "failed inside" in answer["result"]["structuredContent"]["error"]


@pytest.mark.parametrize("name", ["x" * 1_000_000, ["x"] * 100_000, "\x1b[2J\n", "\ud800"])
def test_what_a_client_writes_is_quoted_short_and_clean(name):
    told = answers(
        request("tools/call", {"name": name}, 1),
        request("tools/list", {"_meta": {VERSION_KEY: name}}, 2),
        request(str(name), {}, 3),
        request("tools/call", {"name": "echo", "arguments": {"text": "x", str(name): 1}}, 4),
    )
    assert sorted(one["id"] for one in told) == [1, 2, 3, 4]
    for one in told:
        text = json.dumps(one, ensure_ascii=False)
        assert len(text) < 1000 and "\x1b" not in text and text.encode()


def test_an_argument_that_is_nested_too_deep_is_its_clients_fault(capsys):
    def answer() -> str:
        raise RecursionError

    found = handler_of(answer, {"list_runs"})("list_runs", {}, Call(lambda message: None, None))
    assert found == {"error": "list_runs: an argument is nested too deep", "next": "list_runs"}
    assert not capsys.readouterr().err


def test_only_what_runs_nothing_is_told_as_reading_only():
    """Many clients ask nobody for such: a plan loads the plug-ins that it names, and `wait` takes up a stopped run."""
    told = {tool.name for tools in ROLES.values() for tool in tools if tool.listed()["annotations"]["readOnlyHint"]}
    assert told == {tool.name for tool in ROLES["reader"]}


def test_an_error_that_quotes_a_long_name_is_short_and_soon_there():
    """Each key in it is looked for up to the bracket behind it: 29,000 characters of keys took three seconds."""

    def folder() -> str:
        raise ConfigError("a." * 14_000 + "(\x1b[2J")

    began = time.process_time()
    found = handler_of(folder, {"list_runs"})("list_runs", {}, Call(lambda message: None, None))
    assert len(found["error"]) <= LONGEST_ERROR and "\x1b" not in found["error"]
    assert time.process_time() - began < 1
