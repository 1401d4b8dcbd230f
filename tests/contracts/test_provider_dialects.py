"""What servers that speak OpenAI's or Anthropic's language say in words of their own: paid once, and read or told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import SecretStr
from support.raw_server import Answer, RawServer, streamed, whole

from core.backend import Ledger, MemoryLog, ModelClient, ModelSettings
from core.backend.settings import Price
from core.contracts import Toolbox
from utils.errors import (
    BackendAuthError,
    BackendBusyError,
    CutReplyError,
    LostReplyError,
    RefusedError,
    ReplyError,
    UnwantedPromptError,
)

PROGRAM = "def f(): pass"
TOOL = {"name": "report", "parameters": {"type": "object", "properties": {"sum": {"type": "integer"}}}}
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "```python\nno\n```"}]}


def chat(content: Any, **message: Any) -> Answer:
    reply = {"role": "assistant", "content": content, **message}
    return whole({"choices": [{"index": 0, "message": reply, "finish_reason": "stop"}], "usage": USAGE})


def pieces(*deltas: Mapping[str, Any]) -> Answer:
    chunks = [{"choices": [{"index": 0, "finish_reason": None, **delta}]} for delta in deltas]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    return streamed(*chunks, end, {"choices": [], "usage": USAGE})


def called(arguments: Any) -> list[dict[str, Any]]:
    return [{"index": 0, "id": "1", "type": "function", "function": {"name": "report", "arguments": arguments}}]


class Asked:
    """One question to a server that answers by a script."""

    def __init__(self, server: RawServer, provider: str = "openai", **more: Any) -> None:
        place = server.url + ("/v1" if provider == "openai" else "")
        usual = {"attempts": 3, "backoff": 0.01, "price": Price(1.0, 2.0), "base_url": place, "model": "m"}
        settings = ModelSettings(provider=provider, api_key=SecretStr("sk-planted-0123456789"), **{**usual, **more})
        self.client = ModelClient(
            {"code": settings}, log=MemoryLog(), ledger=Ledger(), notice=lambda reason, wait: None
        )

    def reply(self, **more: Any) -> str:
        try:
            return self.client.bind("code", "n1")("You write.", "Write a program.", **more)
        finally:
            self.client.close()


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWARM_EVO_TEST_NO_NETWORK", "1")


FORMS = {
    "content in parts, as Mistral's models that reason have it": chat([THOUGHT, {"type": "text", "text": PROGRAM}]),
    "the same in a stream": pieces({"delta": {"content": [THOUGHT]}}, {"delta": {"content": PROGRAM}}),
    "a stream where none was asked for": pieces({"delta": {"content": "def f()"}}, {"delta": {"content": ": pass"}}),
    "pieces without a delta, as Azure's filter sends them": pieces(
        {"delta": {"content": PROGRAM}}, {"content_filter_results": {}, "content_filter_offsets": {}}
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_reply_of_another_form_is_read_and_paid_once(form: str) -> None:
    """Each of them was taken for a reply that broke: asked for, and billed, five times, and then the run ended."""
    with RawServer(lambda request: FORMS[form]) as server:
        asked = Asked(server, stream=FORMS[form][1] == "text/event-stream" and "none was asked" not in form)
        assert asked.reply() == PROGRAM
        assert len(server.asked) == 1 and asked.client.ledger.spent.tokens == 15
        assert asked.client.ledger.lost.tokens == 0


def test_a_server_that_does_not_stream_is_heard_all_the_same() -> None:
    calls = [{"id": "1", "function": {"name": "report", "arguments": '{"sum": 5}'}}] * 2
    with RawServer(lambda request: chat(None, tool_calls=calls) if request.get("tools") else chat(PROGRAM)) as server:
        assert Asked(server, stream=True).reply() == PROGRAM
        assert json.loads(Asked(server, stream=True).reply(tools=[TOOL])) == {"sum": 5}
        assert len(server.asked) == 2


def test_thoughts_whose_beginning_is_part_of_the_prompt_are_none_of_the_reply() -> None:
    thoughts = 'Shall it be ```json\n{"sum": 4}\n```?\n```json\n{"sum": 4}\n```\nNo.\n</think>\n\n'
    with RawServer(lambda request: chat(f'{thoughts}{{"sum": 5}}')) as server:
        assert json.loads(Asked(server).reply(tools=[TOOL])) == {"sum": 5}
        assert Asked(server).reply() == '\n\n{"sum": 5}'


BROKEN_OFF = {
    "an error in a stream": streamed(
        {"choices": [{"index": 0, "delta": {"content": "def f("}}]},
        {"error": {"code": 502, "message": "Provider disconnected"}},
    ),
    "the same, as OpenRouter has it": streamed(
        {"choices": [{"index": 0, "delta": {"content": "def f("}, "finish_reason": "error"}], "usage": USAGE},
    ),
} | {
    f"an answer that says so by {word}": whole(
        {"choices": [{"index": 0, "message": {"content": "def f("}, "finish_reason": word}], "usage": USAGE}
    )
    for word in ("error", "insufficient_system_resource", "network_error", "abort")
}


@pytest.mark.parametrize("form", BROKEN_OFF)
def test_a_reply_that_broke_off_is_none_and_may_be_billed(form: str) -> None:
    """A part of a program was taken for the whole, or an error behind it for a server that was busy from the start."""
    with RawServer(lambda request: BROKEN_OFF[form]) as server:
        asked = Asked(server, max_tokens=1000, stream=BROKEN_OFF[form][1] == "text/event-stream")
        with pytest.raises(LostReplyError, match="broke off"):
            asked.reply()
        assert len(server.asked) == 3 and asked.client.ledger.lost.tokens > 3 * 1000


@pytest.mark.parametrize(
    ("word", "outcome"),
    [("max_tokens", CutReplyError), ("MODEL_LENGTH", CutReplyError), ("sensitive", ReplyError), ("eos_token", None)],
)
def test_others_have_other_words_for_the_end_of_a_reply(word: str, outcome: type[Exception] | None) -> None:
    """A program that was cut, or withheld, was taken for a whole one."""
    choice = {"index": 0, "message": {"content": PROGRAM}, "finish_reason": word}
    with RawServer(lambda request: whole({"choices": [choice], "usage": USAGE})) as server:
        if outcome is None:
            assert Asked(server).reply() == PROGRAM
        else:
            with pytest.raises(outcome):
                Asked(server).reply()
        assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("code", "outcome", "tries", "held"),
    [
        (402, BackendAuthError, 1, False),
        ("401", BackendAuthError, 1, False),
        (400, RefusedError, 1, False),
        (429, BackendBusyError, 3, False),
        (502, LostReplyError, 3, True),
        ("server_error", LostReplyError, 3, True),
    ],
)
def test_an_error_in_place_of_a_reply_is_what_its_code_says(
    code: Any, outcome: type[Exception], tries: int, held: bool
) -> None:
    """OpenRouter says so with the status 200: an account without credit was asked, and its worst case held, five times
    over."""
    with RawServer(lambda request: whole({"error": {"message": "it is so", "code": code}})) as server:
        asked = Asked(server)
        with pytest.raises(outcome, match="it is so") as raised:
            asked.reply()
        assert type(raised.value) is outcome and len(server.asked) == tries
        assert (asked.client.ledger.lost.tokens > 0) is held


SAID = (
    (b'{"detail": "Not Found"}', "Not Found"),
    (b'{"error": "it is gone"}', "it is gone"),
    (b'{"code": 7, "msg": "no such\\nthing"}', "no such thing"),
    (b"<html><style>p {}</style><title>Just a moment...</title>\n<p>\x1b[31mWait</p></html>",
     "Just a moment... \ufffd[31mWait"),
    (b'{"error": {"message": "Provider returned error", "metadata": {"raw": "quota of the upstream"}}}',
     "Provider returned error: quota of the upstream"),
    (b'{"detail": [{"loc": ["body"]}]}', "{'detail': [{'loc': ['body']}]}"),
    (b"x" * 390 + b" sk-planted-0123456789", "x" * 390 + " ********"),
)  # fmt: skip


@pytest.mark.parametrize(("body", "said"), SAID)
def test_what_a_server_says_is_told_in_its_words(body: bytes, said: str) -> None:
    """In a line of text: of a page its first line of markup was shown, of a key that was cut its beginning."""
    with RawServer(lambda request: (418, "text/html", body)) as server:
        with pytest.raises(RefusedError) as raised:
            Asked(server).reply()
        assert str(raised.value).endswith(f"/v1: HTTP 418: {said}")


@pytest.mark.parametrize(
    "body", [b"", b"null", b'{"choices": [{"index": 0, "mes', b"<html>\n log in</html>", b'{"success": false}']
)
def test_an_answer_that_is_none_is_shown(body: bytes) -> None:
    with RawServer(lambda request: (200, "application/json", body)) as server:
        with pytest.raises(LostReplyError) as raised:
            Asked(server, attempts=1).reply()
    shown = " ".join(body.decode().split()) or "empty"
    assert str(raised.value).endswith(f"does base_url end with the API's path (/v1)? It is {shown}")
    assert "ValueError" not in str(raised.value)
    with RawServer(lambda request: whole({"code": 500, "msg": "404 NOT_FOUND"})) as server:  # as Z.ai says it
        with pytest.raises(LostReplyError, match=r'is base_url right\? It is \{"code": 500, "msg": "404 NOT_FOUND"\}$'):
            Asked(server, "anthropic", attempts=1).reply()


NOTHING = (
    ("length", {"content": ""}, "thought up to llm.code.max_tokens=4000 and wrote nothing"),
    ("length", {"content": PROGRAM}, "was cut at llm.code.max_tokens=4000: write less"),
    ("tool_calls", {"content": None, "tool_calls": called({"code": "1"})},
     "calls the function 'report', which there is not"),
    ("stop", {"content": None}, "the reply is empty"),
)  # fmt: skip


@pytest.mark.parametrize(("word", "message", "said"), NOTHING)
def test_why_a_reply_holds_no_program_is_told(word: str, message: dict[str, Any], said: str) -> None:
    answer = {"choices": [{"index": 0, "message": message, "finish_reason": word}], "usage": USAGE}
    with RawServer(lambda request: whole(answer)) as server:
        with pytest.raises(ReplyError, match=said):
            Asked(server, max_tokens=4000).reply()


def test_a_count_of_nothing_is_none() -> None:
    """A server that tells zeros was taken for one that bills nothing, and no cap on dollars held."""
    answer = {"choices": [{"index": 0, "message": {"content": PROGRAM}, "finish_reason": "stop"}]}
    zeros = dict.fromkeys(USAGE, 0)
    with RawServer(lambda request: whole({**answer, "usage": zeros})) as server:
        asked = Asked(server)
        assert asked.reply() == PROGRAM
        assert asked.client.ledger.spent.tokens > 5 and asked.client.ledger.spent.usd > 0


def test_an_error_in_place_of_a_stream_costs_nothing() -> None:
    answer = streamed({"error": {"code": 503, "message": "no slot is free"}})
    with RawServer(lambda request: answer) as server:
        asked = Asked(server, stream=True)
        with pytest.raises(BackendBusyError, match="no slot is free"):
            asked.reply()
        assert len(server.asked) == 3 and asked.client.ledger.lost.tokens == 0


@pytest.mark.parametrize("stream", [False, True])
def test_arguments_may_come_read_already(stream: bool) -> None:
    answer = (
        pieces({"delta": {"tool_calls": called({"sum": 5})}}) if stream else chat(None, tool_calls=called({"sum": 5}))
    )
    with RawServer(lambda request: answer) as server:
        assert json.loads(Asked(server, stream=stream).reply(tools=[TOOL])) == {"sum": 5}
        assert len(server.asked) == 1


@pytest.mark.parametrize("stream", [False, True])
def test_a_refusal_is_told_as_one(stream: bool) -> None:
    answer = pieces({"delta": {"refusal": "I can't "}}, {"delta": {"refusal": "do that."}})
    with RawServer(lambda request: answer if stream else chat(None, refusal="I can't do that.")) as server:
        with pytest.raises(ReplyError, match="withheld"):
            Asked(server, stream=stream).reply()


def error(message: str, status: int) -> Answer:
    return whole({"error": {"message": message, "type": "invalid_request_error"}}, status)


UNWANTED = (
    (400, "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length"),
    (400, "This model's maximum prompt length is 131072 but the request contains 142000 tokens."),
    (400, "Invalid request: Your request exceeded model token limit: 8192"),
    (400, "Prompt exceeds max length"),
    (400, "tokens in request more than max tokens allowed"),
    (400, "Range of input length should be [1, 30720]"),
    (400, "Output blocked by content filtering policy"),
    (400, "Invalid prompt: your prompt was flagged as potentially violating our usage policy."),
    (400, "Content Exists Risk"),
    (403, 'Your chosen model requires moderation and your input was flagged for "violence".'),
    (429, "Request too large for m on tokens per min (TPM): Limit 30000, Requested 32768."),
)


@pytest.mark.parametrize(("status", "said"), UNWANTED)
def test_what_one_prompt_is_refused_for_ends_its_node_and_not_the_run(status: int, said: str) -> None:
    with RawServer(lambda request: error(said, status)) as server:
        asked = Asked(server)
        with pytest.raises(UnwantedPromptError):
            asked.reply()
        assert len(server.asked) == 1 and asked.client.ledger.lost.tokens == 0


@pytest.mark.parametrize("status", [504, 524])
def test_what_a_gateway_waited_for_no_longer_may_be_billed(status: int) -> None:
    """Each try let a model write on behind the gateway, and none of it was held against the cap."""
    with RawServer(lambda request: (status, "text/html", b"<html>timeout</html>")) as server:
        asked = Asked(server, max_tokens=1000)
        with pytest.raises(LostReplyError):
            asked.reply()
        assert len(server.asked) == 3 and asked.client.ledger.lost.tokens > 3 * 1000


@pytest.mark.parametrize(
    ("provider", "written", "asked"),
    [
        ("openai", "/v1", "/v1/chat/completions"),
        ("openai", "/v1/", "/v1/chat/completions"),
        ("openai", "/v1/chat/completions", "/v1/chat/completions"),
        ("anthropic", "", "/v1/messages"),
        ("anthropic", "/v1", "/v1/messages"),
        ("anthropic", "/proxy/v1/", "/proxy/v1/messages"),
    ],
)
def test_an_address_may_be_written_as_people_write_it(provider: str, written: str, asked: str) -> None:
    with RawServer(lambda request: error("Not Found", 404)) as server:
        with pytest.raises(RefusedError, match=r"HTTP 404: Not Found; see llm\.code\.base_url$"):
            Asked(server, provider, base_url=server.url + written).reply()
        assert server.paths == [asked]


def test_a_model_that_is_gone_is_told_as_such() -> None:
    said = "The model `gpt-4-32k` has been deprecated"
    with RawServer(lambda request: error(said, 404)) as server:
        with pytest.raises(RefusedError, match=r"deprecated; see llm\.code\.model$"):
            Asked(server).reply()
    with RawServer(lambda request: error("`top_q` is no parameter", 400)) as server:
        with pytest.raises(RefusedError, match=r"is no parameter$"):
            Asked(server, model="my-model").reply()
    said = "Your organization must be verified to stream this model"
    with RawServer(lambda request: error(said, 400)) as server:
        with pytest.raises(RefusedError, match=r"model; see llm\.code\.stream$"):
            Asked(server).reply()


@pytest.mark.parametrize("is_own", [False, True])
def test_logins_of_the_environment_go_to_its_own_address_alone(is_own: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A company's login, made for its own gateway, went to every address that a run named, in place of its key."""
    login = "Bearer of-the-company"
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"Authorization: {login}\nX-Team: research")
    with RawServer(thinks) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url if is_own else "https://gateway.example")
        assert Asked(server, "anthropic").reply() == PROGRAM
        (told,) = server.headers
        assert (told.get("authorization") == login, told.get("x-team")) == (is_own, "research" if is_own else None)
        keys = told.get("x-api-key"), told.get("authorization", "").removeprefix("Bearer ")
        assert is_own or "sk-planted-0123456789" in keys


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("host", "cost", "billed"),
    [
        ("openrouter.ai", 0.0125, 0.0125),
        ("openrouter.ai", 0, 0.0),
        ("openrouter.ai", -1.0, 20e-6),
        ("openrouter.ai", {"total": 1}, 20e-6),
        ("elsewhere.example", 0.0125, 20e-6),
        ("openrouter.ai", {"cost": 0.0025, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.05}}, 0.0525),
        ("openrouter.ai", {"cost": 0.05, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.05}}, 0.05),
        ("openrouter.ai", {"cost": 0.0025, "is_byok": True, "cost_details": {}}, 20e-6),
    ],
)
def test_what_openrouter_bills_is_what_it_tells(
    host: str, cost: Any, billed: float, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks one of several providers, each with a price of its own: a list knows one, and the bill may be another."""
    usage = {**USAGE, **(cost if isinstance(cost, dict) and "cost" in cost else {"cost": cost})}
    end = {"choices": [{"index": 0, "delta": {"content": PROGRAM}, "finish_reason": "stop"}], "usage": usage}
    message = {"role": "assistant", "content": PROGRAM}
    answer = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}
    monkeypatch.delenv("SWARM_EVO_TEST_NO_NETWORK")  # only the proxy is connected to, and it is here
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with RawServer(lambda request: streamed(end) if stream else whole(answer)) as server:
        monkeypatch.setenv("HTTP_PROXY", server.url)
        asked = Asked(server, base_url=f"http://{host}/api/v1", stream=stream)
        assert asked.reply() == PROGRAM and server.paths == [f"http://{host}/api/v1/chat/completions"]
        assert asked.client.ledger.spent.usd == pytest.approx(billed)


# ------------------------------------------------------------ models that think, and may look first


class Calculator(Toolbox):
    tools = ({"name": "run_python", "description": "Run it.", "parameters": {"type": "object", "properties": {}}},)
    most_calls = 3
    most: Mapping[str, int] = {}
    seconds = 5.0

    def call(self, name: str, arguments: Mapping[str, Any], seconds: float) -> str:
        return "forty-two\n```\nnot a fence"


def thinks(request: dict[str, Any]) -> Answer:
    """As Claude with extended thinking: what it called comes back to it with the thoughts before it, or not at all."""
    usage = {"input_tokens": 10, "output_tokens": 5}
    same = {"id": "x", "type": "message", "role": "assistant", "model": "m", "usage": usage}
    if not request.get("tools"):
        return whole({**same, "content": [{"type": "text", "text": PROGRAM}], "stop_reason": "end_turn"})
    if len(request["messages"]) > 1:
        return error("messages.1.content.0.type: Expected `thinking`, but found `tool_use`.", 400)
    thought = {"type": "thinking", "thinking": "...", "signature": "s"}
    call = {"type": "tool_use", "id": "t1", "name": "run_python", "input": {}}
    return whole({**same, "content": [thought, call], "stop_reason": "tool_use"})


def test_who_takes_no_call_back_is_told_in_words_what_it_saw() -> None:
    with RawServer(thinks) as server:
        asked = Asked(server, "anthropic", extra={"thinking": {"type": "enabled", "budget_tokens": 1024}})
        assert asked.reply(toolbox=Calculator()) == PROGRAM
        (last,) = server.asked[-1]["messages"]
        told = "".join(part["text"] for part in last["content"])
        assert told.startswith("Write a program.") and "````\nforty-two\n```\nnot a fence\n````" in told
        assert len(server.asked) == 3 and asked.client.ledger.spent.tokens == 30
        assert asked.client.usage_of("n1").looks == {"run_python": 1}


def test_a_wrong_address_is_no_reason_to_ask_in_words() -> None:
    with RawServer(lambda request: error("Not Found", 404)) as server:
        with pytest.raises(RefusedError):
            Asked(server).reply(toolbox=Calculator())
        assert len(server.asked) == 1
