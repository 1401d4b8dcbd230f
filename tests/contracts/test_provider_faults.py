"""The contract of every provider: real SDKs over real HTTP on loopback, against every fault. Prints the matrix (-s)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from llmock.scenarios import Delay, Fail, Match, Reply, StreamFault, ToolCall, ToolFault
from pydantic import SecretStr
from support.faulty_server import MODELS, REVIEW, REVIEW_CHOICE, REVIEW_TOOL, FaultyServer
from support.raw_server import answering_once

from core.backend import Ledger, MemoryLog, ModelClient, ModelSettings, backend_gemini, backend_openai
from core.backend.deadline import Deadline
from core.backend.exchange import Usage
from utils.errors import BackendAuthError, BackendBusyError, CutReplyError, RefusedError, ReplyError

KEY = "sk-planted-0123456789"
WAIT = 0.3
PROVIDERS = [name if name == "openai" else pytest.param(name, marks=pytest.mark.long) for name in MODELS]
MODES = ("plain", "tools", "stream", "stream+tools")


@dataclass(frozen=True)
class Fault:
    """A fault and what must come of it: the error's class (None: a reply), and how many requests that takes."""

    name: str
    script: tuple[Any, ...] = ()
    outcome: type[Exception] | None = None
    requests: int = 1
    breaks: str = ""
    bare: bool = False
    modes: tuple[str, ...] = MODES
    takes: float = 0.0
    timeout: float = 20.0
    slack: int = 0
    """Further requests that are no fault."""
    repaired: bool = False
    """True: with tools the ladder steps down and the reply is there after two requests."""
    options: dict[str, Any] = field(default_factory=dict)


STALL: dict[str, Any] = {"timeout": 0.8, "slack": 4, "options": {"attempts": 6}}
"""A short deadline, which a machine under load may miss again: further tries are no fault."""
HANGS = 30.0
"""Seconds beyond the deadlines after which a call hangs. That a deadline holds is told by the second request."""
STREAMS = ("stream", "stream+tools")
WHOLE = ("plain", "tools")
TOOLS = ("tools", "stream+tools")
HUGE = "def f(): pass\n" * 400_000
FAULTS = (
    Fault("none"),
    Fault("429 with Retry-After", (Fail(429, retry_after=WAIT),), requests=2, takes=WAIT),
    Fault("429 without", (Fail(429),), requests=2, bare=True),
    Fault("500", (Fail(500),), requests=2, bare=True),
    Fault("529", (Fail(529),), requests=2, bare=True),
    Fault("529 for ever", (Fail(529, times=None),), BackendBusyError, requests=3, bare=True),
    Fault("401", (Fail(401),), BackendAuthError),
    Fault("400", (Fail(400),), RefusedError, repaired=True),
    Fault("404", (Fail(404),), RefusedError),
    Fault("stall", (Delay(3),), requests=2, modes=WHOLE, **STALL),
    Fault("stall in a stream", (StreamFault("stall", stall_seconds=3),), requests=2, modes=STREAMS, **STALL),
    Fault("drop", breaks="cut", requests=2, modes=WHOLE),
    Fault("drop in a stream", (StreamFault("disconnect", after_chunks=1),), requests=2, modes=STREAMS),
    Fault("no finish reason", breaks="unfinished", requests=2, modes=WHOLE),
    Fault("truncated stream", (StreamFault("truncate", after_chunks=1),), requests=2, modes=STREAMS),
    Fault("not JSON", breaks="garbage", requests=2, modes=WHOLE),
    Fault("malformed chunk", (StreamFault("malformed", after_chunks=1),), requests=2, modes=STREAMS),
    Fault("wrong tool", (ToolFault("unknown_tool"),), requests=2, modes=TOOLS),
    Fault("arguments not JSON", (ToolFault("malformed_arguments"),), requests=2, modes=TOOLS),
    Fault(
        "arguments out of schema",
        (Reply(tool_calls=(ToolCall("submit_review", {"is_bug": "perhaps"}),)),),
        requests=2,
        modes=TOOLS,
    ),
    Fault("tool_choice ignored", (Reply(text="It looks fine to me."),), requests=2, modes=TOOLS),
    Fault("empty", (Reply(text=""),), ReplyError, repaired=True),
    Fault("cut at max_tokens", (Reply(text="def f(", finish_reason="length"),), CutReplyError, repaired=True),
    Fault("5 MB reply", (Reply(text=HUGE),), ReplyError, repaired=True, modes=WHOLE),
    # Without a blank, so that it comes in one chunk: llmock streams word by word.
    Fault("5 MB in a stream", (Reply(text="x" * 5_000_000),), ReplyError, repaired=True, modes=STREAMS),
)


@pytest.fixture(scope="module")
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running


@pytest.fixture(scope="module")
def quiet_server() -> Iterator[FaultyServer]:
    """One that never stalled: no reply of an earlier test is still on its way."""
    with FaultyServer() as running:
        yield running


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWARM_EVO_TEST_NO_NETWORK", "1")


def settings_for(server: FaultyServer, provider: str, **options: Any) -> ModelSettings:
    plain = {"attempts": 3, "backoff": 0.02, "max_tokens": 4000} | options
    return ModelSettings(
        provider=provider, model=MODELS[provider], api_key=SecretStr(KEY), base_url=server.base_url(provider), **plain
    )


@pytest.fixture(scope="module")
def matrix() -> Iterator[dict[tuple[str, str], list[str]]]:
    cells: dict[tuple[str, str], list[str]] = {}
    yield cells
    print(
        "\n\nprovider × fault → outcome (requests)\nfault                    "
        + "".join(f"{provider:36}" for provider in MODELS)
        + "\n"
    )
    for fault in FAULTS:
        row = ["; ".join(sorted(set(cells.get((fault.name, provider), ())))) for provider in MODELS]
        print(f"{fault.name:25}" + "".join(f"{cell:36}" for cell in row))


def outcome_of(query: Any, with_tools: bool) -> tuple[type[Exception] | None, str]:
    try:
        if with_tools:
            return None, query("You review.", "Review this.", tools=[REVIEW_TOOL], tool_choice=REVIEW_CHOICE)
        return None, query("You write.", "Write a program.")
    except Exception as error:  # noqa: BLE001  # the matrix is about which one it is
        assert KEY not in str(error)
        return type(error), str(error)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_fault(fault: Fault, provider: str, server: FaultyServer, matrix: dict[tuple[str, str], list[str]]) -> None:
    for mode in fault.modes:
        if provider == "gemini" and mode == "stream+tools" and fault.name in GEMINI_SENDS_CALLS_WHOLE:
            continue
        server.reset()
        with_tools = mode in TOOLS
        server.state.scenarios.add(*fault.script)
        if with_tools:  # what the server says once it is asked without tools, whatever it makes of schemas
            server.state.scenarios.add(Reply(text=json.dumps(REVIEW), times=None, match=Match(tools=False)))
        if fault.breaks:
            server.layer.breaks.append(fault.breaks)
        server.layer.bare_429 = fault.bare
        settings = settings_for(server, provider, stream=mode in STREAMS, timeout=fault.timeout, **fault.options)
        log = MemoryLog()
        model_client = ModelClient({"code": settings}, log=log, ledger=Ledger())
        started = time.monotonic()
        error, text = outcome_of(model_client.bind("code", "n1"), with_tools)
        seconds = time.monotonic() - started
        model_client.close()

        repaired = fault.repaired and with_tools
        wanted, requests = (None, 2) if repaired else (fault.outcome, fault.requests)
        asked = server.layer.requests
        label = f"{mode}: {text[:200]}"
        assert error is wanted, label
        assert requests <= asked <= requests + fault.slack, label
        assert seconds >= fault.takes, label
        assert seconds < fault.timeout * asked + HANGS, label
        if error is None and with_tools:
            assert set(json.loads(text)) >= set(REVIEW)
        told = "reply" if error is None else error.__name__
        also = "tools: " if fault.repaired and with_tools else ""
        matrix.setdefault((fault.name, provider), []).append(f"{also}{told} ({asked})")


GEMINI_SENDS_CALLS_WHOLE = frozenset({"stall in a stream", "drop in a stream", "truncated stream", "malformed chunk"})
"""A call comes in the only chunk there is, so that nothing can break after it."""


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("stream", [False, True])
def test_the_bill_is_the_servers_count(provider: str, stream: bool, quiet_server: FaultyServer) -> None:
    server = quiet_server
    server.reset()
    log = MemoryLog()
    model_client = ModelClient({"code": settings_for(server, provider, stream=stream)}, log=log)
    model_client.bind("code", "n1")("You write.", "Write a program.")
    model_client.bind("code", "n1")("You review.", "Review.", tools=[REVIEW_TOOL], tool_choice=REVIEW_CHOICE, attempt=1)
    model_client.close()
    usage = model_client.usage_of("n1")
    assert (usage.prompt_tokens, usage.completion_tokens) == server.billed
    assert model_client.ledger.spent.tokens == sum(server.billed) > 0
    assert model_client.ledger.lost.tokens == 0


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_key_travels_and_the_sdk_does_not_retry(provider: str, server: FaultyServer) -> None:
    server.reset()
    server.state.scenarios.add(Fail(500, times=None))
    model_client = ModelClient({"code": settings_for(server, provider, attempts=1)}, log=MemoryLog())
    with pytest.raises(BackendBusyError):
        model_client.bind("code")("s", "u")
    model_client.close()
    assert server.layer.requests == 1
    assert any(KEY in value for value in server.layer.headers_seen[0].values())


@pytest.mark.parametrize("provider", PROVIDERS)
def test_llmock_finds_nothing_to_say_about_the_client(provider: str, server: FaultyServer) -> None:
    """llmock's own verdict: Retry-After kept, nothing retried in vain, no truncated stream accepted."""
    from llmock.verdict import judge

    server.reset()
    server.state.scenarios.add(Fail(429, retry_after=0.2), StreamFault("truncate", after_chunks=1))
    model_client = ModelClient({"code": settings_for(server, provider, stream=True)}, log=MemoryLog())
    model_client.bind("code", "a")("s", "first")
    server.state.scenarios.add(Fail(401))
    assert outcome_of(model_client.bind("code", "b"), with_tools=False)[0] is BackendAuthError
    model_client.close()
    judge(server.state.journal.records(wait=5.0)).assert_ok()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_proxy_is_not_asked_for_a_server_on_this_machine(
    provider: str, server: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.reset()
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    model_client = ModelClient({"code": settings_for(server, provider)}, log=MemoryLog())
    assert model_client.bind("code")("s", "u")
    model_client.close()
    assert server.layer.requests == 1


def test_of_several_replies_in_a_stream_the_first_is_read() -> None:
    def piece(index: int, text: str, finish: str | None = None) -> Any:
        delta = SimpleNamespace(content=text, tool_calls=None, refusal=None)
        choice = SimpleNamespace(index=index, delta=delta, finish_reason=finish)
        return SimpleNamespace(usage=None, choices=[choice])

    pieces = [piece(1, "no "), piece(0, "a "), piece(1, "never", "length"), piece(0, "whole one", "stop")]
    found = backend_openai._read_stream(pieces, Deadline(5.0))
    assert (found.text, found.finish_reason) == ("a whole one", "stop")
    both = SimpleNamespace(usage=None, choices=[*piece(1, "no", "length").choices, *piece(0, "yes", "stop").choices])
    assert backend_openai._read_stream([both], Deadline(5.0)).text == "yes"


def test_of_several_calls_of_functions_in_a_stream_the_first_is_read() -> None:
    def piece(index: int | None, name: str | None, arguments: str, finish: str | None = None) -> Any:
        call = SimpleNamespace(index=index, function=SimpleNamespace(name=name, arguments=arguments))
        delta = SimpleNamespace(content=None, tool_calls=[call], refusal=None)
        return SimpleNamespace(
            usage=None, choices=[SimpleNamespace(index=0, delta=delta, finish_reason=finish)]
        )  # fmt: skip

    pieces = [piece(0, "review", '{"a"'), piece(1, "other", '{"b": 2}'), piece(None, None, ": 1}", "tool_calls")]
    found = backend_openai._read_stream(pieces, Deadline(5.0))
    assert (found.tool, found.arguments, found.finish_reason) == ("review", '{"a": 1}', "tool")


def test_of_several_candidates_in_a_stream_the_first_is_read() -> None:
    def piece(index: int | None, text: str, finish: str = "") -> Any:
        part = SimpleNamespace(function_call=None, text=text, thought=None)
        reason = SimpleNamespace(name=finish) if finish else None
        candidate = SimpleNamespace(index=index, content=SimpleNamespace(parts=[part]), finish_reason=reason)
        return SimpleNamespace(usage_metadata=None, prompt_feedback=None, candidates=[candidate])

    pieces = [piece(1, "no "), piece(None, "a "), piece(1, "never", "MAX_TOKENS"), piece(0, "whole one", "STOP")]
    found = backend_gemini._gather(pieces, Deadline(5.0))
    assert (found.text, found.finish_reason) == ("a whole one", "stop")


@pytest.mark.parametrize(
    ("total", "completion"), [(17, 7), (None, 7), (317, 307), (5, 7), ("many", 7), (-1, 7), (10**12, 7), (True, 7)]
)
def test_thoughts_that_only_the_sum_of_tokens_tells_are_counted(total: Any, completion: int) -> None:
    """As xAI's and Google's servers for OpenAI's SDK have it: `completion_tokens` are those of the reply alone."""
    told = SimpleNamespace(prompt_tokens=10, completion_tokens=7, total_tokens=total)
    assert backend_openai.usage_of(told) == Usage(10, completion)


_ERROR = b'{"error":{"message":"upstream is over capacity"}}'
BROKEN = [
    (b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(_ERROR), _ERROR), False, "upstream is over capacity"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", False, r"peer closed .* \(received 1 bytes, expected 99\)"),
    (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope", False, "incorrect header check"),
    (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", False, "Connection refused"),
    (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 14\r\n\r\n<h1>Log in</h1",
        True,
        "no event of a stream",
    ),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\ndata: ", True, r"peer closed .*received 6 bytes"),
]


@pytest.mark.parametrize(("answer", "stream", "said"), BROKEN)
def test_what_broke_a_connection_is_told(answer: bytes, stream: bool, said: str) -> None:
    """`Connection error.` alone, as the SDK has it, lets nobody find out whose fault it is."""
    with answering_once(answer) as address:
        settings = ModelSettings(
            provider="openai", model="m", api_key=SecretStr(KEY), base_url=f"{address}/v1", attempts=1, stream=stream
        )
        model_client = ModelClient({"code": settings}, log=MemoryLog(), ledger=Ledger())
        with pytest.raises(BackendBusyError, match=said):
            model_client.bind("code", "n1")("You write.", "Write a program.")
        model_client.close()
