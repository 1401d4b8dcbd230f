"""The gateway by itself: who may ask, what for, and what it counts; by real HTTP on loopback."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from shutil import which
from typing import Any

import pytest
from pydantic import SecretStr
from support.model_behind_tls import ModelBehindTls
from support.model_server import ModelServer
from support.processes import eventually
from support.raw_server import answering_once

from core.backend.agent.dialects import bounded, is_cut, understood, usage_of
from core.backend.agent.gateway import Gateway
from core.backend.agent.gateway_server import AT_ONCE
from core.backend.agent.session_budget import SessionBudget
from core.backend.exchange import Usage
from core.backend.network import NO_NETWORK
from core.backend.settings import ModelSettings, Price, SessionLimits
from utils.errors import BackendError

TOKEN = "t" * 48
BODY = {"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}]}
LOOKED = {"ok": False, "problems": [{"kind": "syntax"}], "warnings": []}


@pytest.fixture
def models() -> Iterator[ModelServer]:
    with ModelServer(lambda request, results: "yes", plain="yes") as server:
        yield server


@pytest.fixture
def gateway(models: ModelServer) -> Iterator[Gateway]:
    settings = ModelSettings(
        provider="agent", model="m", base_url=models.url, api_key=SecretStr("real"), price=Price(1.0, 1.0),
        session=SessionLimits(turns=6, tokens=100_000, usd=1.0),
    )  # fmt: skip
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    made = Gateway(listener, settings, TOKEN, lambda provider: "real", lambda: LOOKED)
    yield made
    made.close()


def asked(
    gateway: Gateway, path: str, body: Any = BODY, method: str = "POST", **headers: str
) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=10)
    connection.request(method, path, json.dumps(body), {"x-api-key": TOKEN, **headers})
    answer = connection.getresponse()
    raw = answer.read()
    connection.close()
    return answer.status, json.loads(raw) if raw.startswith(b"{") else {"text": raw.decode()}


def answered(answer: bytes) -> Gateway:
    """A gateway that one request went through, to a server that answers so."""
    with answering_once(answer) as address:
        settings = ModelSettings(
            provider="agent", model="m", base_url=address, timeout=5, api_key=SecretStr("real"),
            price=Price(1.0, 1.0), session=SessionLimits(turns=6, tokens=100_000, usd=1.0),
        )  # fmt: skip
        made = Gateway(socket.create_server(("127.0.0.1", 0)), settings, TOKEN, lambda provider: "real", None)
        with suppress(http.client.HTTPException, OSError, ValueError):
            asked(made, "/v1/messages")
    made.close()
    return made


def test_it_passes_on_with_the_real_key_and_counts(gateway, models):
    status, reply = asked(gateway, "/v1/messages")
    assert status == 200 and reply["content"][0]["text"] == "yes"
    assert models.keys == ["real"]
    assert gateway.spent.usage == Usage(100, 10) and gateway.spent.usd == pytest.approx(110e-6)
    (kept,) = gateway.exchanges
    assert kept.body == BODY and json.loads(kept.reply) == reply and TOKEN not in kept.reply


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/v1/messages", {"x-api-key": "wrong"}, 401),
        ("/v1/messages", {"x-api-key": "", "authorization": f"Bearer {TOKEN}"}, 200),
        (f"/v1/messages?key={TOKEN}", {"x-api-key": ""}, 200),
        ("/v1/messages", {"host": "evil.example"}, 403),
        ("http://evil.example/v1/messages", {}, 403),
        ("/v1/files", {}, 404),
        ("/../../etc/passwd", {}, 404),
        ("/check", {"x-api-key": "wrong"}, 401),
    ],
)
def test_who_may_ask_and_what_for(gateway, models, path, headers, status):
    assert asked(gateway, path, **headers)[0] == status
    assert len(models.requests) == (1 if status == 200 else 0)


def test_it_is_no_proxy(gateway):
    with socket.create_connection(("127.0.0.1", gateway.port)) as client:
        client.sendall(b"CONNECT evil.example:443 HTTP/1.1\r\nhost: evil.example:443\r\n\r\n")
        assert client.recv(100).split()[1] == b"403"


def by_mcp(gateway: Gateway, method: str, **params: Any) -> dict[str, Any]:
    status, told = asked(gateway, "/mcp", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    assert status == 200
    return dict(told["result"])


def test_its_own_tools_are_there_by_mcp_too(gateway, models):
    opened = by_mcp(gateway, "initialize", protocolVersion="2025-11-25", capabilities={})
    assert opened["serverInfo"]["name"] == "swarm-evo"
    assert asked(gateway, "/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"})[0] == 202
    assert [tool["name"] for tool in by_mcp(gateway, "tools/list")["tools"]] == ["check", "give_up"]
    told = [by_mcp(gateway, "tools/call", name="check", arguments={}) for _ in range(5)]
    assert told[0]["structuredContent"] == LOOKED
    assert "5 checks" in asked(gateway, "/check", {})[1]["error"], "counted together, whichever way they come"
    assert by_mcp(gateway, "tools/call", name="give_up", arguments={"reason": "too hard"})["isError"] is False
    assert gateway.over.is_set() and "too hard" in gateway.why
    assert models.requests == []


def test_who_may_not_ask_by_mcp(gateway):
    hello = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert asked(gateway, "/mcp", hello, **{"x-api-key": "wrong"})[0] == 401
    assert asked(gateway, "/mcp", hello, host="evil.example")[0] == 403
    assert asked(gateway, "/mcp", {}, method="GET")[0] == 405, "there is no stream to listen to"


def test_checks_are_counted(gateway):
    told = [asked(gateway, "/check", {})[1] for _ in range(6)]
    assert [one.get("ok") for one in told] == [False] * 5 + [None] and "5 checks" in told[5]["error"]
    assert not gateway.over.is_set()


def test_giving_up_ends_the_session(gateway):
    assert [asked(gateway, path, {}, method="GET")[0] for path in ("/check", "/give_up")] == [405, 405]
    assert not gateway.over.is_set(), "a look at an address ends nothing"
    assert asked(gateway, "/give_up", {"reason": "hard"})[1] == {"state": "given_up"}
    assert gateway.over.is_set() and "hard" in gateway.why


def test_turns_end_it(gateway, models):
    assert [asked(gateway, "/v1/messages")[0] for _ in range(7)] == [200] * 6 + [403]
    assert gateway.over.is_set() and "turns" in gateway.why and len(models.requests) == 6


def test_what_the_provider_refuses_is_no_turn(gateway, models):
    models.refusals = 9
    assert [asked(gateway, "/v1/messages")[0] for _ in range(9)] == [429] * 9
    eventually(lambda: not gateway.budget.waits)
    assert gateway.spent.turns == 0 and gateway.spent.tokens == 0 and not gateway.over.is_set()
    assert [asked(gateway, "/v1/messages")[0] for _ in range(7)] == [200] * 6 + [403]


def test_counting_tokens_costs_nothing(gateway, models):
    assert asked(gateway, "/v1/messages/count_tokens")[1] == {"input_tokens": 10}
    assert gateway.spent.turns == 0 and not gateway.exchanges


def test_what_is_passed_on_is_the_path_that_was_weighed(gateway, models):
    """`#/../…` behind a free one went along: who reads it as a path would answer a request that nobody counted."""
    assert asked(gateway, "/v1/messages/count_tokens?beta=true#/../../messages")[0] == 200
    assert models.paths == ["/v1/messages/count_tokens?beta=true"]


def test_a_model_that_is_gone_is_told_and_costs_nothing(gateway, models):
    models.__exit__()
    assert asked(gateway, "/v1/messages")[0] == 502
    assert gateway.spent.tokens == 0 and not gateway.over.is_set()
    models.__init__(lambda request, results: "yes")  # the fixture closes it again


def test_a_short_answer_may_be_asked_for(gateway, models):
    assert asked(gateway, "/v1/messages", {**BODY, "max_tokens": 1})[0] == 200
    assert models.requests[-1]["max_tokens"] == 1 and not gateway.over.is_set()


@pytest.mark.parametrize("odd", ["many", None, -5, 0, 3.5, [1], {"a": 1}])
@pytest.mark.parametrize(
    ("path", "limit"),
    [("/v1/messages", "max_tokens"), ("/v1beta/models/m:generateContent", "generationConfig"),
     ("/v1/chat/completions", "max_completion_tokens")],
)  # fmt: skip
def test_an_odd_limit_is_replaced_and_leaves_nothing_reserved(gateway, models, path, limit, odd):
    assert asked(gateway, path, {"model": "m", limit: odd, "stream_options": odd})[0] == 200
    eventually(lambda: not gateway.budget.waits)
    assert gateway.spent.tokens == 110


@pytest.mark.parametrize(
    ("answer", "completion"),
    [
        (b"", 100),
        (b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{", 100),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n62\r\n"
         b'data: {"type": "message_start", "message": {"usage": {"input_tokens": 7, "output_tokens": 1}}}\n\n..\r\n',
         100),
        (b"HTTP/1.0 200 OK\r\n\r\n"
         b'data: {"type": "message_start", "message": {"usage": {"input_tokens": 7, "output_tokens": 1}}}\n\n',
         100),
        (b"HTTP/1.1 500 No\r\ncontent-length: 5000\r\n\r\n{", 0),
    ],
    ids=["no answer", "cut", "cut in a stream", "a stream without its end", "refused"],
)  # fmt: skip
def test_an_answer_that_broke_off_is_counted_with_the_most_it_can_have_taken(answer, completion):
    made = answered(answer)
    assert made.spent.usage.completion == completion and not made.budget.waits
    assert bool(made.spent.usd) == bool(completion)


def test_a_side_question_to_another_provider_ends_nothing(models):
    settings = ModelSettings(provider="agent", model="m", base_url="https://models.example")
    made = Gateway(socket.create_server(("127.0.0.1", 0)), settings, TOKEN, lambda provider: "", None)
    assert asked(made, "/v1/models", method="GET")[0] == 403
    assert not made.over.is_set() and not made.broken, "what costs nothing is no reason to throw a session away"
    made.spent.turns = 1
    assert asked(made, "/v1/chat/completions")[0] == 403 and not made.over.is_set() and not made.broken
    made.spent.turns = 0
    assert asked(made, "/v1/messages")[0] == 403 and made.over.is_set() and "no key" in made.broken
    made.close()


def test_a_key_that_a_refusal_quotes_is_neither_told_nor_kept():
    """The key of the environment is none of the settings': the agent read it, and the run's store kept it."""
    key = "sk-planted-0123456789"
    said = json.dumps({"error": {"message": f"Incorrect API key provided: {key}"}}).encode()
    with answering_once(b"HTTP/1.1 401 No\r\ncontent-length: %d\r\n\r\n" % len(said) + said) as address:
        settings = ModelSettings(provider="agent", model="m", base_url=address)
        made = Gateway(socket.create_server(("127.0.0.1", 0)), settings, TOKEN, lambda provider: key, None)
        status, told = asked(made, "/v1/messages")
    made.close()
    assert status == 401 and told["error"]["message"] == "Incorrect API key provided: ********"
    assert key not in made.exchanges[0].reply


def test_a_price_that_is_set_is_not_that_of_other_models():
    """A coding agent may ask any model of its provider: a dear one was counted at the price of the cheap one."""
    settings = ModelSettings(
        provider="agent", model="my-own", price=Price(0.01, 0.01), session=SessionLimits(usd=0.001, tokens=None)
    )
    made = Gateway(socket.create_server(("127.0.0.1", 0)), settings, TOKEN, lambda provider: "key", None)
    usd = {}
    for model in ("my-own", "my-own-2026", "claude-opus-4-1", "nobody-knows-it"):
        request = understood("/v1/messages", json.dumps({**BODY, "model": model}).encode())
        try:
            usd[model] = made.admit(request, 100)[2]
        except BackendError as error:
            usd[model] = str(error)
        made.budget._reserved = Usage(0, 0)  # else the next one waits for it
    made.close()
    assert usd == {
        **dict.fromkeys(("my-own", "my-own-2026", "nobody-knows-it"), pytest.approx((100 * 1.25 + 100) * 1e-8)),
        "claude-opus-4-1": "tokens or dollars of this session are used (llm.code.session)",
    }


def test_what_is_asked_at_once_waits_for_what_others_hold() -> None:
    """A session that had taken nothing yet ended: the replies under way held all of its dollars."""
    settings = ModelSettings(
        provider="agent", model="m", price=Price(1.0, 1.0), session=SessionLimits(usd=0.01, tokens=None)
    )
    budget, out = SessionBudget(settings), []
    request = understood("/v1/messages", json.dumps({**BODY, "max_tokens": 6000}).encode())

    def ask() -> None:
        try:
            out.append(budget.admit(request, 100))
        except BackendError as error:
            out.append(str(error))

    ask()
    waiting = [threading.Thread(target=ask) for _ in range(2)]
    for one in waiting:
        one.start()
    assert len(out) == 1, "the second would be cut short"
    used = json.dumps({"usage": {"input_tokens": 50, "output_tokens": 50}}).encode()
    budget.settle(request, *out[0][1:], 200, used, broke=False)
    eventually(lambda: len(out) == 2)
    assert out[1][0]["max_tokens"] == 6000 and budget.spent.turns == 2
    budget.close()
    for one in waiting:
        one.join(10)
    assert out[2] == "the session is over" and budget.spent.tokens == 100


@pytest.mark.parametrize(("status", "then"), [(429, "is let out"), (200, "1 turn is used (llm.code.session.turns)")])
def test_a_turn_that_may_be_given_back_is_waited_for(status, then) -> None:
    """A client that asks again as soon as it reads a refusal was told that its turns were used: the refused one counted
    until its reply had been passed on to the end, and the session was over."""
    settings = ModelSettings(provider="agent", model="m", price=Price(1.0, 1.0), session=SessionLimits(turns=1))
    budget, out = SessionBudget(settings), []
    request = understood("/v1/messages", json.dumps(BODY).encode())
    _, worst, usd = budget.admit(request, 100)

    def ask_again() -> None:
        try:
            budget.admit(request, 100)
            out.append("is let out")
        except BackendError as error:
            out.append(str(error))

    waiting = threading.Thread(target=ask_again)
    waiting.start()
    waiting.join(0.1)
    assert not out
    used = json.dumps({"usage": {"input_tokens": 50, "output_tokens": 50}}).encode() if status == 200 else b"{}"
    budget.settle(request, worst, usd, status, used, broke=False)
    waiting.join(60)
    assert out == [then] and budget.spent.turns == 1


CONVERSATIONS = {
    "/v1/messages": ("messages", lambda text: {"role": "user", "content": [{"type": "text", "text": text}]}),
    "/v1/responses": ("input", lambda text: {"role": "user", "content": text}),
    "/v1beta/models/m:generateContent": ("contents", lambda text: {"parts": [{"text": text}]}),
}
"""Path → the key of its turns, and a turn."""


@pytest.mark.parametrize("path", CONVERSATIONS)
def test_what_an_earlier_request_held_weighs_what_the_model_counted(path):
    """Each byte was a token: a session of 200 KB was over at a quarter of its cap."""
    budget = SessionBudget(ModelSettings(provider="agent", model="m", session=SessionLimits(tokens=100_000)))
    key, turn = CONVERSATIONS[path]

    def weighed(turns, told=0, **more):
        """Tokens that are held for it; then the model tells so many, or refuses it."""
        request = understood(path, raw := json.dumps({"model": "m", key: turns, **more}).encode())
        _, worst, usd = budget.admit(request, len(raw))
        used = {"usage": {"input_tokens": told, "output_tokens": 5}} if told else {}
        budget.settle(request, worst, usd, 200 if told else 500, json.dumps(used).encode(), broke=False)
        return worst.prompt

    long = "word " * 8000
    assert weighed([turn(long)], told=8000, tools=[]) > 40_000
    assert 8000 < weighed([turn(long), turn("and on")]) < 8200
    for elsewhere in ([turn(long + "and on")], [turn(long), turn(long)], [{"role": "tool", "input": long}]):
        assert weighed(elsewhere) > 40_000
    assert weighed([turn(long)], model="other") > 40_000 or "models/" in path
    assert budget.spent.tokens == 8005


@pytest.mark.parametrize(
    ("end", "cut"),
    [
        ({"type": "message_stop"}, False),
        ({"type": "response.completed", "response": {}}, False),
        ({"choices": [{"finish_reason": "stop", "delta": {}}]}, False),
        ({"candidates": [{"finishReason": "STOP"}]}, False),
        ({"promptFeedback": {"blockReason": "OTHER"}}, False),
        ({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, False),
        ({"type": "message_delta", "delta": {"stop_reason": None}}, True),
        ({"choices": [{"finish_reason": None}], "candidates": "x"}, True),
    ],
)
def test_a_stream_without_its_end_is_cut(end: dict[str, Any], cut: bool) -> None:
    assert is_cut(events({"type": "ping"}, end)) is cut
    assert not is_cut(json.dumps(end).encode()), "no stream"


def test_what_an_agent_holds_of_our_process_is_bounded(gateway):
    """Every connection had a thread, and 32 MiB to fill before anybody asked for its token."""
    place = ("127.0.0.1", gateway.port)
    before = threading.active_count()
    begin = f"POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1:{gateway.port}\r\ncontent-length: 30000000\r\n"
    large = [socket.create_connection(place) for _ in range(6)]
    for number, one in enumerate(large):
        one.sendall((begin + (f"x-api-key: {TOKEN}\r\n" if number else "") + "\r\n").encode())
    assert large[0].recv(100).startswith(b"HTTP/1.0 401")
    eventually(gateway._server.one_large.locked)
    idle = [socket.create_connection(place) for _ in range(2 * AT_ONCE)]
    for one in idle[AT_ONCE:]:
        one.settimeout(10)
    with suppress(ConnectionResetError):
        assert idle[-1].recv(100) == b""
    assert threading.active_count() - before <= AT_ONCE
    for one in (*large, *idle):
        one.close()
    eventually(lambda: threading.active_count() <= before + 1)
    assert asked(gateway, "/v1/messages")[0] == 200


@pytest.mark.parametrize("path", ["/mcp", "/check", "/v1/messages"])
def test_what_a_request_becomes_when_it_is_read_is_bounded(gateway, models, path):
    """32 MiB of `{},{},` became 1 GB of this process, 64 times at once; as text they are one string."""
    status, reply = asked(gateway, path, {**BODY, "many": [{}] * 1_000_000})
    assert status == 413 and "would take 2" in reply["error"]["message"] and not models.keys
    code = {**BODY, "system": "x = (1, [2], {})\n" * 50_000}
    assert asked(gateway, "/v1/messages/count_tokens", code)[0] == 200


def test_a_session_that_is_over_asks_no_model(gateway, models):
    asked(gateway, "/give_up", {"reason": "no idea"})
    assert asked(gateway, "/v1/messages")[0] == 403 and not models.requests and gateway.spent.turns == 0


def events(*parts: dict[str, Any]) -> bytes:
    return b"".join(b"event: x\ndata: " + json.dumps(part).encode() + b"\n\n" for part in parts) + b"data: [DONE]\n\n"


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (json.dumps({"usage": {"input_tokens": 5, "output_tokens": 7}}).encode(), Usage(5, 7)),
        (events({"type": "message_start", "message": {"usage": {"input_tokens": 5, "cache_read_input_tokens": 100,
                                                               "output_tokens": 1}}},
                {"type": "message_delta", "usage": {"output_tokens": 7}}), Usage(105, 7, 100)),
        (events({"type": "message_start", "message": {"usage": {"input_tokens": 5, "output_tokens": 1}}},
                {"type": "message_delta", "usage": {"input_tokens": 0, "output_tokens": 7}}), Usage(5, 7)),
        (json.dumps({"usage": {"input_tokens": -5, "output_tokens": 7}}).encode(), None),
        (events({"choices": []}, {"usage": {"prompt_tokens": 5, "completion_tokens": 7}}), Usage(5, 7)),
        (events({"type": "response.completed", "response": {"usage": {"input_tokens": 5, "output_tokens": 7}}}),
         Usage(5, 7)),
        (json.dumps([{"usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 3, "thoughtsTokenCount": 4}}])
         .encode(), Usage(5, 7)),
        (json.dumps({"usage": {"prompt_tokens": 105, "completion_tokens": 7,
                               "prompt_tokens_details": {"cached_tokens": 100}}}).encode(), Usage(105, 7, 100)),
        (events({"response": {"usage": {"input_tokens": 105, "output_tokens": 7,
                                        "input_tokens_details": {"cached_tokens": 100}}}}), Usage(105, 7, 100)),
        (json.dumps({"usageMetadata": {"promptTokenCount": 105, "candidatesTokenCount": 7,
                                       "cachedContentTokenCount": 100}}).encode(), Usage(105, 7, 100)),
        (json.dumps({"usage": {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 60,
                               "cache_creation_input_tokens": 40}}).encode(), Usage(105, 7, 60, 40)),
        (json.dumps({"usage": {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 312}}).encode(),
         Usage(5, 307)),
        (json.dumps({"usage": {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 10}}).encode(), Usage(5, 7)),
        (json.dumps({"usage": {"prompt_tokens": 5, "completion_tokens": 7, "prompt_tokens_details": "none"}}).encode(),
         Usage(5, 7)),
        ('data: {"text": "a\u2028b\x85c", "usage": {"input_tokens": 5, "output_tokens": 7}}'.encode(),
         Usage(5, 7)),  # ends of lines to Python, and to nobody else
        (json.dumps({"usage": {"prompt_tokens": 0, "completion_tokens": 0}}).encode(), None),
        (b"<html>", None), (b"", None),
    ],
)  # fmt: skip
def test_what_each_language_says_that_a_reply_took(raw, found):
    assert usage_of(raw) == found


@pytest.mark.parametrize(
    ("path", "own", "theirs"),
    [
        ("/v1/messages", [{"name": "x", "input_schema": {}}, {"type": "custom", "name": "y"},
                          {"type": "bash_20250124", "name": "bash"}],
         [{"type": "web_search_20250305", "name": "web_search"}, {"type": "web_fetch_20250910", "name": "web_fetch"},
          {"type": "code_execution_20250825", "name": "c"}, {"type": "mcp_toolset", "mcp_server_name": "z"}]),
        ("/v1/chat/completions", [{"type": "function", "function": {"name": "x"}}], [{"type": "web_search"}]),
        ("/v1/responses", [{"type": "function", "name": "x"}, {"type": "custom", "name": "apply_patch"},
                           {"type": "local_shell"}],
         [{"type": "web_search"}, {"type": "mcp", "server_url": "https://evil.example"}, {"type": "code_interpreter"}]),
        ("/v1beta/models/g:generateContent", [{"functionDeclarations": [{"name": "x"}]}],
         [{"googleSearch": {}}, {"url_context": {}}, {"codeExecution": {}}]),
    ],
)  # fmt: skip
def test_no_request_reaches_beyond_the_model(path, own, theirs):
    """Who is kept to one model searched the web by it, at a price that no token tells."""
    more = {"mcp_servers": [{"url": "https://evil.example"}], "web_search_options": {}, "tool_choice": {"type": "auto"}}
    both = understood(path, json.dumps({"model": "m", "tools": [*own, *theirs], **more}).encode())
    assert bounded(both, 300)["tools"] == own and "evil" not in json.dumps(bounded(both, 300))
    assert bounded(both, 300)["tool_choice"] == {"type": "auto"} and "web_search_options" not in bounded(both, 300)
    alone = understood(path, json.dumps({"model": "m", "tools": theirs, **more}).encode())
    assert not {"tools", "tool_choice"} & bounded(alone, 300).keys()
    odd = understood(path, json.dumps({"model": "m", "tools": ["x", 5, None]}).encode())
    assert bounded(odd, 300)["model"] == "m"


@pytest.mark.parametrize(
    ("path", "body", "place"),
    [
        ("/v1/messages", {"max_tokens": 9000}, ("max_tokens",)),
        ("/v1/chat/completions", {"stream": True}, ("max_completion_tokens",)),
        ("/v1/chat/completions", {"max_tokens": 9000}, ("max_tokens",)),
        ("/v1/chat/completions", {"max_tokens": 9000, "max_completion_tokens": 9000, "n": 8}, ("max_tokens",)),
        ("/v1/responses", {}, ("max_output_tokens",)),
        ("/v1beta/models/g:streamGenerateContent", {}, ("generationConfig", "maxOutputTokens")),
        (
            "/v1beta/models/g:generateContent",
            {"generation_config": {"max_output_tokens": 9000, "candidate_count": 8}},
            ("generationConfig", "maxOutputTokens"),
        ),
        (
            "/v1beta/models/g:generateContent",
            {"generationConfig": {"max_output_tokens": 9000, "candidate_count": 8}},
            ("generationConfig", "maxOutputTokens"),
        ),
    ],
)
def test_a_reply_is_bounded_in_each_language(path, body, place):
    found = understood(path, json.dumps({"model": "m", **body}).encode())
    value: Any = bounded(found, 300)
    for key in place:
        value = value[key]
    assert value == 300
    assert (
        "candidate" not in json.dumps(bounded(found, 300))
        and "n" not in bounded(found, 300)
        and "9000" not in json.dumps(bounded(found, 300))
    )
    assert found.model in ("m", "g")
    assert bounded(found, 300).get("stream_options") == ({"include_usage": True} if body.get("stream") else None)


@pytest.mark.parametrize(
    "path", ["/v1/messages", "/v1/chat/completions", "/v1/responses", "/v1beta/models/g:generateContent"]
)
@pytest.mark.parametrize(
    "more", [{"service_tier": "priority"}, {"serviceTier": "priority"}, {"speed": "fast"}, {"inference_geo": "us"}]
)
def test_nothing_is_asked_for_at_another_price(path, more):
    """OpenAI serves sooner at twice the price, Anthropic at six times: what it took was counted at the usual one."""
    found = understood(path, json.dumps({"model": "m", **more}).encode())
    assert not more.keys() & bounded(found, 300).keys()


def test_nothing_is_kept_for_an_hour_in_the_models_cache():
    """That is written at twice a prompt's price: it was counted at one and a quarter."""
    hour, minutes = {"type": "ephemeral", "ttl": "1h"}, {"type": "ephemeral"}

    def request(control):
        text = {"type": "text", "text": '"ttl": "1h"', "cache_control": control}
        result = {"type": "tool_result", "tool_use_id": "1", "content": [text], "cache_control": control}
        turns = [{"role": "user", "content": [text, result]}, {"role": "assistant", "content": "ttl"}]
        tools = [{"name": "x", "input_schema": {}, "cache_control": control}]
        return {"model": "m", "max_tokens": 9, "cache_control": control, "tools": tools, "system": [text],
                "messages": turns}  # fmt: skip

    found = understood("/v1/messages", json.dumps(request(hour)).encode())
    assert bounded(found, 9) == request(minutes) and found.body == request(hour)
    odd = understood("/v1/messages", json.dumps({"system": [None, {"cache_control": 5}], "messages": 7}).encode())
    assert bounded(odd, 9)["system"] == [None, {"cache_control": 5}]


@pytest.mark.parametrize("verb", ["predictLongRunning", "predict", "batchEmbedContents", "generateVideos"])
def test_a_model_is_asked_for_nothing_that_no_token_counts(gateway, models, verb):
    """A video of Google's is billed by its seconds; the gateway passed the request on and counted a few cents."""
    assert asked(gateway, f"/v1beta/models/veo-3:{verb}", {"instances": [{"prompt": "x"}]})[0] == 404
    assert asked(gateway, "/v1beta/models/..%2f..%2fv1beta%2ffiles:generateContent", {})[0] == 404
    assert not models.requests


@pytest.mark.parametrize("raw", [b"[]", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_request_is_nobodys(raw):
    assert understood("/v1/messages", raw) is None


STARTED = {"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 1}}}
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
FAILED = {"type": "response.failed", "response": {"status": "failed", "error": {"code": "server_error"}, "usage": None}}


@pytest.mark.parametrize("events", [(STARTED, OVERLOADED), (FAILED,)])
def test_a_reply_that_ends_with_an_error_is_counted_with_the_most_it_can_have_taken(events):
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n" % len(body)
    spent = answered(head + body).spent
    assert spent.usage.completion == BODY["max_tokens"] and spent.turns == 1


@pytest.mark.parametrize(("status", "completion"), [(504, 100), (524, 100), (503, 0), (429, 0)])
def test_what_a_gateway_behind_ours_waited_for_no_longer_may_be_billed(status, completion):
    spent = answered(b"HTTP/1.1 %d Timeout\r\ncontent-length: 0\r\n\r\n" % status).spent
    assert spent.usage.completion == completion and spent.turns == bool(completion)


# ------------------------------------------------------------ where the way to the model leads through a proxy


@pytest.fixture
def behind(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Makes a gateway to an address that is reached by a proxy alone."""
    for name in (
        "NO_PROXY",
        "no_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv(NO_NETWORK)  # only the proxy is connected to, and it is here
    made: list[Gateway] = []

    def build(url: str, proxy: str) -> Gateway:
        monkeypatch.setenv("ALL_PROXY", proxy)
        settings = ModelSettings(provider="agent", model="m", base_url=url, price=Price(1.0, 1.0))
        made.append(Gateway(socket.create_server(("127.0.0.1", 0)), settings, TOKEN, lambda provider: "real", None))
        return made[0]

    yield build
    for gateway in made:
        gateway.close()


def test_the_environments_proxy_is_asked(models, behind):
    """Without a way of its own to the world, as in most companies, no agent got an answer behind the gateway."""
    gateway = behind("http://models.invalid/v1", models.url.replace("http://", "http://me:p%40ss@"))
    status, reply = asked(gateway, "/v1/messages")
    assert status == 200 and reply["content"][0]["text"] == "yes" and models.keys == ["real"]


@pytest.mark.skipif(which("openssl") is None, reason="makes the certificate")
def test_a_tunnel_leads_through_it_where_the_model_is_asked_in_secret(behind, tmp_path, monkeypatch):
    model = ModelBehindTls("models.invalid", "yes", tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", model.environment["SSL_CERT_FILE"])
    gateway = behind("https://models.invalid/v1", model.environment["HTTPS_PROXY"])
    status, reply = asked(gateway, "/v1/chat/completions")
    assert status == 200 and reply["choices"][0]["message"]["content"] == "yes" and len(model.asked) == 1
    model.close()


def test_a_proxy_that_speaks_no_http_is_told(behind):
    gateway = behind("https://models.invalid/v1", "socks5://me:secret@127.0.0.1:1")
    status, told = asked(gateway, "/v1/messages")
    assert status == 403 and "socks5://127.0.0.1:1" in told["error"]["message"] and "secret" not in str(told)
    assert gateway.over.is_set() and "NO_PROXY" in gateway.broken


def test_a_model_on_this_machine_is_asked_without(models, behind):
    assert asked(behind(models.url, "http://127.0.0.1:1"), "/v1/messages")[0] == 200
