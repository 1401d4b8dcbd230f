"""ModelClient over a real server: nothing is asked twice or paid twice, everything is recorded before its use."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from llmock.scenarios import Delay, Fail, Match, Reply
from pydantic import SecretStr
from support.faulty_server import MODELS, REVIEW, REVIEW_CHOICE, REVIEW_TOOL, FaultyServer
from support.processes import eventually

from core.backend import Ledger, MemoryLog, ModelClient, ModelSettings, ReplyCache
from core.backend.clients import ClientPool
from core.backend.deadline import Deadline
from core.backend.exchange import Message, Request, Tool, Usage, request_hash
from core.backend.network import NO_NETWORK
from core.backend.records import CallKey, blank_record, reply_fields, reply_of
from core.backend.settings import Price
from core.backend.stream import Collector
from core.backend.usage import Amount
from core.contracts import CallRecord
from core.storage.repository import RunStore
from utils.errors import (
    BackendAddressError,
    BackendAuthError,
    BackendError,
    BudgetExhausted,
    ConfigError,
    ReplyError,
    RunStopped,
    StoreError,
    WrongAddressError,
)

KEY = "sk-planted-0123456789"


@pytest.fixture(scope="module")
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running


OPENED: list[ModelClient] = []


@pytest.fixture(autouse=True)
def fresh(server: FaultyServer) -> Iterator[None]:
    server.reset()
    yield
    while OPENED:
        OPENED.pop().close()


def settings(server: FaultyServer, **options: Any) -> ModelSettings:
    plain = {"attempts": 2, "backoff": 0.01, "max_tokens": 500} | options
    return ModelSettings(
        provider="openai", model=MODELS["openai"], api_key=SecretStr(KEY), base_url=server.base_url("openai"), **plain
    )


def model_client_of(server: FaultyServer, log: Any = None, run_seed: int = 1, **more: Any) -> ModelClient:
    options = more.pop("options", {})
    OPENED.append(ModelClient({"code": settings(server, **options)}, log=log or MemoryLog(), run_seed=run_seed, **more))
    return OPENED[-1]


# ---------------------------------------------------------------- the record


def test_the_runs_own_record_answers_without_a_request_and_without_counting_again(server: FaultyServer) -> None:
    log = MemoryLog()
    first = model_client_of(server, log)
    text = first.bind("code", "n1")("s", "u")
    asked = server.layer.requests
    resumed = model_client_of(server, log)
    resumed.ledger.restore((r.prompt_tokens, r.completion_tokens, r.cost_usd) for r in log.records.values())
    before = resumed.ledger.spent
    assert resumed.bind("code", "n1")("s", "u") == text
    assert server.layer.requests == asked == 1
    assert resumed.ledger.spent == before == first.ledger.spent
    assert resumed.usage_of("n1") == first.usage_of("n1")


def test_the_exchanges_of_a_session_are_counted_once_also_where_they_are_recalled(server: FaultyServer) -> None:
    """A resumed run counted the seconds of an agent's exchanges beside those of its session, which hold them."""
    facts = {"request_hash": "h", "node_id": "n", "provider": "agent", "seconds": 7.0}
    session = CallRecord(sample="1/n/code/0", role="code", model="claude", prompt_tokens=5, cost_usd=0.1, **facts)
    parts = [session.model_copy(update={"sample": f"1/n/code/0/session/{n}", "role": "session"}) for n in (0, 1)]
    client = model_client_of(server)
    client.recall("n", [*parts, session])
    used = client.usage_of("n")
    client.close()
    assert (used.calls, used.seconds, used.prompt_tokens, used.cost_usd) == (1, 7.0, 5, 0.1)


def test_another_node_role_attempt_or_seed_is_another_draw(server: FaultyServer) -> None:
    log = MemoryLog()
    model_client = model_client_of(server, log)
    model_client.bind("code", "n1")("s", "u")
    model_client.bind("code", "n2")("s", "u")
    model_client.bind("feedback", "n1")("s", "u")
    model_client.bind("code", "n1")("s", "u", attempt=1)
    model_client_of(server, log, run_seed=2).bind("code", "n1")("s", "u")
    assert server.layer.requests == len(log.records) == 5
    assert {record.sample for record in log.records.values()} == {
        "1/n1/code/0", "1/n2/code/0", "1/n1/feedback/0", "1/n1/code/1", "2/n1/code/0",
    }  # fmt: skip


def test_an_answer_is_stored_before_it_is_used(server: FaultyServer) -> None:
    """The store dies while it stores: the caller never sees the reply."""

    class DyingLog(MemoryLog):
        def save_call(self, record: CallRecord, held: str = "", session=()) -> None:
            super().save_call(record, held, session)
            raise OSError("power cut")

    log = DyingLog()
    with pytest.raises(OSError, match="power cut"):
        model_client_of(server, log).bind("code", "n1")("s", "u")
    assert len(log.records) == 1


def test_equal_calls_at_once_make_one_request(server: FaultyServer) -> None:
    server.state.scenarios.add(Delay(0.3))
    model_client = model_client_of(server)
    with ThreadPoolExecutor(8) as threads:
        texts = list(threads.map(lambda _: model_client.bind("code", "n1")("s", "u"), range(8)))
    assert server.layer.requests == 1
    assert len(set(texts)) == 1
    assert model_client.usage_of("n1").calls == 1


def test_every_fact_of_a_call_is_in_the_runs_store(server: FaultyServer, tmp_path: Path) -> None:
    server.state.scenarios.add(Fail(500), Reply(text="def f(): return 1"))
    store = RunStore(tmp_path / "run")
    model_client = model_client_of(server, store, options={"price": Price(1.0, 2.0)})
    model_client.bind("code", "n1")("You write.", "Write.")
    (record,) = store.calls()
    assert (record.system, record.user, record.reply) == ("You write.", "Write.", "def f(): return 1")
    assert (record.provider, record.model, record.role, record.node_id) == ("openai", MODELS["openai"], "code", "n1")
    assert (record.prompt_tokens, record.completion_tokens) == server.billed
    assert record.cost_usd == pytest.approx((server.billed[0] + 2 * server.billed[1]) / 1e6)
    assert (record.tries, record.finish_reason, record.cached) == (2, "stop", False)
    assert record.seconds > 0
    store.close()


# ---------------------------------------------------------------- the cache across runs


def test_a_rerun_is_answered_by_the_cache_at_no_cost_with_its_tokens(server: FaultyServer, tmp_path: Path) -> None:
    options = {"price": Price(1.0, 1.0)}
    first = model_client_of(server, cache=ReplyCache(tmp_path / "c.db"), options=options)
    text = first.bind("code", "n1")("s", "u")
    first.close()
    log = MemoryLog()
    again = model_client_of(server, log, cache=ReplyCache(tmp_path / "c.db"), options=options)
    assert again.bind("code", "n1")("s", "u") == text
    again.close()
    assert server.layer.requests == 1
    (record,) = log.records.values()
    assert (record.cached, record.cost_usd, record.tries) == (True, 0.0, 0)
    assert again.ledger.spent.tokens == first.ledger.spent.tokens > 0
    assert again.ledger.spent.usd == 0.0 < first.ledger.spent.usd


@pytest.mark.parametrize(
    ("refusal", "tools"),
    [("maximum context length is 4096 tokens", []), ("tools are not supported", [REVIEW_TOOL])],
)
def test_a_rerun_is_not_told_what_a_server_refused_before(
    server: FaultyServer, tmp_path: Path, refusal: str, tools: list[dict[str, Any]]
) -> None:
    ask = {"tools": tools, "tool_choice": REVIEW_CHOICE} if tools else {}
    cache = ReplyCache(tmp_path / "cache.db")
    server.state.scenarios.add(Fail(400, message=refusal))
    log = MemoryLog()
    with suppress(ReplyError):
        model_client_of(server, log, cache=cache).bind("code", "n1")("s", "u", **ask)
    (refused,) = (record for record in log.records.values() if not record.completion_tokens)
    assert cache.find(refused.request_hash, refused.sample) is None
    cache.save(refused)  # as earlier versions did
    for requests in (1, 0):
        server.reset()
        assert model_client_of(server, cache=cache).bind("code", "n1")("s", "u", **ask)
        assert server.layer.requests == requests, "it is set up otherwise now, was asked, and has answered"


def test_a_rerun_ends_by_tokens_where_the_first_run_did(server: FaultyServer, tmp_path: Path) -> None:
    def answered_before_the_end() -> int:
        model_client = model_client_of(server, cache=ReplyCache(tmp_path / "c.db"), ledger=Ledger(tokens=3000))
        try:
            for node in range(1000):
                model_client.bind("code", str(node))("s", "u")
        except BudgetExhausted:
            return node
        finally:
            model_client.close()
        raise AssertionError("the budget held nothing back")

    first = answered_before_the_end()
    assert server.layer.requests == first > 3
    assert answered_before_the_end() == first
    assert server.layer.requests == first


def test_the_cache_is_shared_by_processes_and_keeps_the_first_answer(tmp_path: Path) -> None:
    record = CallRecord(request_hash="h", sample="s", reply="first")
    one, two = ReplyCache(tmp_path / "logs" / "c.db"), ReplyCache(tmp_path / "logs" / "c.db")
    one.save(record)
    two.save(record.model_copy(update={"reply": "second"}))
    assert (two.find("h", "s") or record).reply == "first"
    assert one.find("h", "other") is None
    one.close()
    two.close()


# ---------------------------------------------------------------- function calling


def test_each_rung_is_recorded_and_climbed_again_from_the_record(server: FaultyServer) -> None:
    server.state.scenarios.add(
        Fail(400, message="tools are not supported", match=Match(tools=True)),
        Reply(text="I think it is fine.", times=2),
        Reply(text=json.dumps(REVIEW | {"is_bug": "no"})),
        Reply(text=f"```json\n{json.dumps(REVIEW)}\n```"),
    )
    log = MemoryLog()
    ask = {"tools": [REVIEW_TOOL], "tool_choice": REVIEW_CHOICE}
    text = model_client_of(server, log).bind("feedback", "n1")("s", "u", **ask)
    assert json.loads(text) == REVIEW
    assert server.layer.requests == 5
    assert [record.sample.split("/")[4:] for record in log.records.values()] == [[], ["1"], ["2"], ["3"], ["4"]]
    assert "must be boolean" in list(log.records.values())[-1].user
    assert model_client_of(server, log, offline=True).bind("feedback", "n1")("s", "u", **ask) == text
    assert server.layer.requests == 5


def test_half_characters_in_arguments_are_replaced(server: FaultyServer) -> None:
    server.state.scenarios.add(Reply(text='{"is_bug": true, "has_csv_submission": true, "summary": "odd \\ud800"}'))
    model_client = model_client_of(server, options={"tools": "fence"})
    text = model_client.bind("feedback", "n1")("s", "u", tools=[REVIEW_TOOL], tool_choice=REVIEW_CHOICE)
    assert json.loads(text)["summary"] == "odd ?"


def test_after_three_repairs_it_is_a_reply_error(server: FaultyServer) -> None:
    server.state.scenarios.add(Reply(text="no JSON from me", times=None))
    log = MemoryLog()
    with pytest.raises(ReplyError, match="after 3 repairs"):
        model_client_of(server, log).bind("feedback", "n1")("s", "u", tools=[REVIEW_TOOL], tool_choice=REVIEW_CHOICE)
    assert server.layer.requests == 6
    with pytest.raises(ReplyError, match="after 3 repairs"):
        model_client_of(server, log).bind("feedback", "n1")("s", "u", tools=[REVIEW_TOOL], tool_choice=REVIEW_CHOICE)
    assert server.layer.requests == 6


@pytest.mark.parametrize("blank", ["", " \n", "\t" * 5000 + "x"])
def test_no_turn_of_a_repair_is_blank(server: FaultyServer, blank: str) -> None:
    """A reply of white space went back as a turn of its own: Anthropic refuses that, and the refusal ended the run."""
    server.state.scenarios.add(Reply(text=blank, times=3), Reply(text=json.dumps(REVIEW)))
    log = MemoryLog()
    client = model_client_of(server, log)
    text = client.bind("feedback", "n1")("s", "u", tools=[REVIEW_TOOL], tool_choice=REVIEW_CHOICE)
    assert json.loads(text) == REVIEW
    assert "[assistant]\n(nothing)\n" in list(log.records.values())[-1].user


@pytest.mark.parametrize(("start", "asked"), [("schema", 1), ("fence", 1)])
def test_the_ladder_can_start_lower(server: FaultyServer, start: str, asked: int) -> None:
    server.state.scenarios.add(Reply(text=json.dumps(REVIEW)))
    model_client = model_client_of(server, options={"tools": start})
    text = model_client.bind("feedback", "n1")("s", "u", tools=[REVIEW_TOOL], tool_choice=REVIEW_CHOICE)
    assert json.loads(text) == REVIEW
    assert server.layer.requests == asked
    body = server.state.journal.records(wait=5.0)[-1].body or {}
    assert "tools" not in body
    assert ("response_format" in body) is (start == "schema")


def test_a_call_of_another_tool_goes_round_the_record_and_back() -> None:
    place = CallKey(1, "n", "code", 0)
    blank = blank_record("h", place.sample(), place, Request("s", (Message("user", "u"),)), ModelSettings())
    for name in ("submit_review", "odd/name", ""):
        from core.backend.exchange import Reply as Answer

        reply = Answer(text="" if name else "t", tool=name, arguments="{}" if name else "", finish_reason="stop")
        assert reply_of(blank.model_copy(update=reply_fields(reply))) == reply


# ---------------------------------------------------------------- limits and secrets


def test_stop_ends_a_call_under_way(server: FaultyServer) -> None:
    server.state.scenarios.add(Delay(2))
    stop = threading.Event()
    model_client = model_client_of(server, stop=stop)

    def stop_once_asked() -> None:
        eventually(lambda: server.layer.requests, 60)
        stop.set()

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(stop_once_asked)
        with pytest.raises(RunStopped):
            model_client.bind("code", "n1")("s", "u")
        asked.result()
    assert model_client.ledger.lost.tokens > 0


def test_nothing_is_asked_once_the_runs_time_is_over_also_where_room_came_late(server: FaultyServer) -> None:
    left = [1.0]

    class LateRoom(Ledger):
        def reserve(self, worst: Amount) -> Amount:
            left[0] = 0.0  # the calls in flight took all of the time that was left
            return super().reserve(worst)

    ledger = LateRoom(tokens=10**9)
    model_client = model_client_of(server, ledger=ledger, seconds_left=lambda: left[0])
    for _ in range(2):
        with pytest.raises(BudgetExhausted, match=r"budget\.seconds"):
            model_client.bind("code", "n1")("s", "u")
    assert not server.layer.requests and ledger.lost.tokens == ledger.spent.tokens == 0, "nothing stays reserved"
    assert ledger.reserve(Amount(10**9)).tokens == 10**9


@pytest.mark.parametrize("message", ["This model's maximum context length is 8192 tokens.", "content_filter: no."])
def test_a_prompt_that_is_refused_fails_its_node_and_is_not_asked_again(server: FaultyServer, message: str) -> None:
    server.state.scenarios.add(Fail(400, message=message, times=None))
    log = MemoryLog()
    for _ in range(2):
        with pytest.raises(ReplyError, match="HTTP 400"):
            model_client_of(server, log).bind("code", "n1")("s", "u")
    assert server.layer.requests == 1


@pytest.mark.parametrize(
    ("message", "key"),
    [
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "llm.code.reasoning"),
        ("max_tokens is too large: 8192", "llm.code.max_tokens"),
        ("temperature does not support 0.5", "llm.code.temperature"),
    ],
)
def test_a_refused_option_names_the_key(server: FaultyServer, message: str, key: str) -> None:
    server.state.scenarios.add(Fail(400, message=message))
    with pytest.raises(BackendError) as caught:
        model_client_of(server).bind("code", "n1")("s", "u")
    assert key in str(caught.value)
    assert not isinstance(caught.value, ReplyError)


LIMIT_A_MINUTE = (
    "Rate limit reached for gpt-4o-mini on requests per min (RPM): Limit 3. Please try again in 20s. You can increase "
    "your rate limit by adding a payment method to your account at https://platform.openai.com/account/billing."
)


def test_a_limit_a_minute_is_waited_for_whatever_page_it_names(server: FaultyServer) -> None:
    server.state.scenarios.add(Fail(429, message=LIMIT_A_MINUTE))
    assert model_client_of(server).bind("code", "n1")("s", "u")
    assert server.layer.requests == 2


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (429, "insufficient_quota: You exceeded your current quota, please check your plan and billing details."),
        (400, "Your credit balance is too low to access the Anthropic API."),
        (400, "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."),
        (402, "Insufficient Balance"),
    ],
)
def test_an_account_without_credit_stops_at_once_and_is_no_step_of_the_ladder(
    server: FaultyServer, status: int, message: str
) -> None:
    server.state.scenarios.add(Fail(status, message=message, times=None))
    log = MemoryLog()
    with pytest.raises(BackendAuthError, match="no credit left"):
        model_client_of(server, log).bind("feedback", "n1")("s", "u", tools=[REVIEW_TOOL], tool_choice=REVIEW_CHOICE)
    assert server.layer.requests == 1 and not log.records


def test_a_host_that_nobody_knows_ends_the_search_before_an_answer_and_is_waited_for_after_one(
    server: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def unknown(host: Any, *rest: Any, **more: Any) -> Any:
        asked.append(str(host))
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    where = server.base_url("openai").replace("127.0.0.1", "localhost")
    model_client = model_client_of(server, options={"attempts": 4})
    away = ModelClient({"code": replace(settings(server), base_url=where)}, log=MemoryLog())
    OPENED.append(away)
    with monkeypatch.context() as dead:
        dead.setattr(socket, "getaddrinfo", unknown)
        with pytest.raises(BackendAddressError, match=r"no server has this name\); see llm\.code\.base_url"):
            away.bind("code", "n1")("s", "u")
    assert len(asked) == 1 and not server.layer.requests and BackendAddressError.exit_code == 2
    assert model_client.bind("code", "n1")("s", "u")
    send, failing = ClientPool.send, [WrongAddressError("it is gone"), WrongAddressError("it is gone")]

    def at_times(pool: ClientPool, *request: Any) -> Any:
        if failing:
            raise failing.pop()
        return send(pool, *request)

    monkeypatch.setattr(ClientPool, "send", at_times)
    assert model_client.bind("code", "n2")("s", "other")
    assert not failing and server.layer.requests == 2


def test_that_one_provider_has_answered_says_nothing_of_another_whose_address_is_its_own_too(
    server: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both addresses are '': the second's host was waited for as if it had ever been there."""
    send = ClientPool.send

    def at_home(pool: ClientPool, request: Any, to: ModelSettings, heard: Any) -> Any:
        if to.provider == "anthropic":
            raise WrongAddressError("no server has this name")
        return send(pool, request, replace(to, base_url=server.base_url("openai")), heard)

    monkeypatch.setattr(ClientPool, "send", at_home)
    monkeypatch.delenv(NO_NETWORK, raising=False)  # clients of outer addresses are made, and asked for nothing
    own = replace(settings(server), base_url="")
    other = replace(own, provider="anthropic", model=MODELS["anthropic"])
    client = ModelClient({"code": own, "feedback": other}, log=MemoryLog())
    OPENED.append(client)
    assert client.bind("code", "n1")("s", "u")
    with pytest.raises(BackendAddressError, match="no server has this name"):
        client.bind("feedback", "n1")("s", "u")


@pytest.mark.parametrize(("answers_first", "error"), [(True, BudgetExhausted), (False, BackendError)])
def test_a_run_whose_time_is_over_is_a_good_end_only_where_its_model_has_answered(
    server: FaultyServer, tmp_path: Path, answers_first: bool, error: type[Exception]
) -> None:
    """And what was known to cost nothing is not held for the next process."""
    store = RunStore(tmp_path)
    left = [1000.0]
    client = model_client_of(server, store, seconds_left=lambda: left[0], options={"backoff": 100.0, "attempts": 9},
                             ledger=Ledger(tokens=10**6))  # fmt: skip
    if answers_first:
        assert client.bind("code", "n1")("s", "u")
    server.state.scenarios.add(Fail(503, message="busy", times=None))
    left[0] = 0.5  # less than the server asks to wait
    with pytest.raises(error, match=r"budget\.seconds") as ended:
        client.bind("code", "n2")("s", "u")
    assert type(ended.value) is error and ("it has not answered once" in str(ended.value)) is not answers_first
    assert store.held() == [] and client.ledger.lost == Amount()
    store.close()


def test_thoughts_are_recorded_and_not_returned(server: FaultyServer) -> None:
    said = "<think>Maybe ```python\nbad\n```?</think>\nThe answer."
    server.state.scenarios.add(Reply(text=said))
    log = MemoryLog()
    assert model_client_of(server, log).bind("code", "n1")("s", "u") == "The answer."
    assert [record.reply for record in log.records.values()] == [said]


def test_offline_refuses_what_is_not_recorded(server: FaultyServer) -> None:
    with pytest.raises(BackendError, match="not in the record"):
        model_client_of(server, offline=True).bind("code", "n1")("s", "u")
    assert server.layer.requests == 0


def test_a_stream_that_is_given_up_is_counted_with_the_most_it_can_take() -> None:
    """Anthropic tells the prompt first and the reply at the end: what was told by then was counted as all of it."""
    collected = Collector(Deadline(60.0))
    for piece in collected.within(["x" * 600_000] * 3):
        collected.usage = Usage(100, 1)
        collected.add_text(piece)
    reply = collected.reply()
    assert (reply.finish_reason, reply.usage) == ("oversize", None)


def test_no_key_in_errors_records_and_files(server: FaultyServer, tmp_path: Path) -> None:
    secret = "s3cr3t/passw0rd"
    user = f"me:{secret.replace('/', '%2F')}"
    url = server.base_url("openai").replace("http://", f"http://{user}@") + "?token=quer1es3cret"
    store, cache = RunStore(tmp_path / "run"), ReplyCache(tmp_path / "c.db")
    server.state.scenarios.add(
        Fail(401, message=f"Incorrect API key provided: {KEY}"),
        Reply(text=f"your key is {KEY}, is it not?", times=None),
    )
    waits: list[str] = []
    plain = settings(server)
    roles = {"code": ModelSettings(provider="openai", model="m", api_key=SecretStr(KEY), base_url=url, attempts=1)}
    told = []
    model_client = ModelClient(roles, log=store, cache=cache, notice=lambda reason, seconds: waits.append(reason))
    for query in (
        model_client.bind("code", "a"),
        model_client.bind("code", "b"),
        model_client_of(server, store, cache=cache).bind("code", "c"),
    ):
        try:
            told.append(query("s", "u"))
        except BackendError as error:
            told.append(str(error))
            assert error.__cause__ is None
            assert error.__context__ is None
    model_client.close()
    store.close()
    assert plain.key_text == KEY
    files = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for word in (KEY, secret, "passw0rd", "quer1es3cret"):
        assert word not in "\n".join(told + waits)
        assert word.encode() not in files
    assert "your key is ********" in "\n".join(told)


@pytest.mark.parametrize("key", ["EMPTY", "none", "ollama", "test", "1234", "not_needed"])
def test_what_stands_in_a_keys_place_is_no_secret_of_a_program(server: FaultyServer, key: str) -> None:
    """Servers on this machine want some word for a key. It was masked in programs, which no longer parsed."""
    program = f"{key} = 0\nboard = [[{key}] * 7 for _ in range(6)]\n"
    server.state.scenarios.add(Reply(text=program))
    model = ModelSettings(provider="openai", model="m", base_url=server.base_url("openai"), api_key=SecretStr(key))
    client = ModelClient({"code": model}, log=MemoryLog())
    assert client.bind("code", "n")("s", "u") == program
    client.close()


def test_the_switch_forbids_every_other_address(monkeypatch: pytest.MonkeyPatch) -> None:
    for base_url in ("https://api.example.com/v1", ""):
        away = ModelSettings(provider="openai", model="m", api_key=SecretStr(KEY), base_url=base_url)
        with pytest.raises(BackendError, match="SWARM_EVO_TEST_NO_NETWORK=1 forbids"):
            ModelClient({"code": away}, log=MemoryLog()).bind("code")("s", "u")
    with pytest.raises(PermissionError), socket.socket() as plain:
        plain.connect(("192.0.2.1", 80))


def test_overrides_hold_for_one_call(server: FaultyServer) -> None:
    model_client = model_client_of(server)
    model_client.bind("code", "n1")("s", "u", temperature=0.3, model="gpt-4o")
    body = server.state.journal.records(wait=5.0)[-1].body or {}
    assert (body["model"], body["temperature"]) == ("gpt-4o", 0.3)
    assert model_client.settings_of("code").temperature is None
    with pytest.raises(ConfigError, match="temprature"):
        model_client.bind("code")("s", "u", temprature=0.3)


def test_overrides_hold_whichever_of_several_models_is_chosen(server: FaultyServer) -> None:
    arms = (settings(server, temperature=0.7), settings(server))
    model_client = model_client_of(server, options={"models": arms})
    for node in ("n1", "n2", "n3"):
        query = model_client.bind("code", node)
        query("s", "u", temperature=0.3)
        assert (server.state.journal.records(wait=5.0)[-1].body or {})["temperature"] == 0.3
        query("s", "u", attempt=1, model="gpt-4o")
        assert (server.state.journal.records(wait=5.0)[-1].body or {})["model"] == "gpt-4o"


@pytest.mark.parametrize("stream", [False, True])
def test_extra_goes_into_the_body_and_nothing_else_does(stream: bool) -> None:
    extra = {"top_p": 0.5, "reasoning_effort": "low"}
    with FaultyServer() as own:  # where what an earlier test gave up may still be under way, it is not counted here
        model_client_of(own, options={"extra": extra, "stream": stream}).bind("code", "n1")("s", "u")
        (bill,) = own.layer.bills
    body = json.loads(bill.asked)
    assert extra.items() <= body.items()
    known = {"model", "messages", "max_tokens", "max_completion_tokens", "stream", "stream_options"}
    assert body.keys() - extra.keys() <= known, "a server refuses a word that it does not know"


def test_the_hash_is_of_the_request_and_of_nothing_else(server: FaultyServer) -> None:
    request = Request("s", (Message("user", "u"),))
    plain = settings(server)
    same = [
        settings(server, attempts=9, timeout=1.0, stream=True, concurrency=1),
        ModelSettings(provider="openai", model=plain.model, base_url="http://localhost:1/v1", max_tokens=500),
    ]
    assert {request_hash(request, other) for other in [plain, *same]} == {request_hash(request, plain)}
    others = [settings(server, temperature=0.1), settings(server, max_tokens=501), settings(server, extra={"top_p": 1})]
    hashes = {request_hash(request, other) for other in others} | {request_hash(request, plain)}
    hashes.add(request_hash(Request("s", (Message("user", "U"),)), plain))
    hashes.add(request_hash(Request("s", (Message("user", "u"),), mode="schema"), plain))
    assert len(hashes) == 6


def test_golden_hashes() -> None:
    """A hash that changes makes every cache and recording worthless: change these only with a reason for users."""
    model = ModelSettings(provider="openai", model="m", base_url="https://u:p@h.example/v1?k=1", max_tokens=10)
    tool = Tool("f", "d", {"type": "object"})
    request = Request("s", (Message("user", "u"),), (tool,), "f", "tool")
    assert request_hash(request, model) == "78df7cf2dce045aca0e889ed2754af7fb054fb90a3fcba11610e917b58669831"
    rules = Request("s", (Message("user", "ü\ud800"),), context={"a": [1, 2.5, None]})
    assert request_hash(rules, ModelSettings()) == "88aba9a24dba02cdb7efe651c1382bd524d3c2660815753e057dfcf786e2fe4b"


def test_a_reservation_that_could_not_be_stored_keeps_nobody_waiting(server: FaultyServer) -> None:
    class FullDisk(MemoryLog):
        def hold_call(self, name: str, tokens: int, usd: float) -> None:
            raise StoreError("disk full")

    ledger = Ledger(tokens=1_000_000)
    model_client = model_client_of(server, FullDisk(), ledger=ledger)
    with pytest.raises(StoreError):
        model_client.bind("code", "n1")("s", "u")
    assert ledger._reserved.tokens == 0


@pytest.mark.parametrize("stream", [False, True])
def test_a_model_slower_than_its_deadline_is_told_with_the_keys_to_set(server: FaultyServer, stream: bool) -> None:
    server.state.scenarios.add(Delay(1.0))
    model_client = model_client_of(server, options={"timeout": 0.2, "attempts": 1, "stream": stream})
    with pytest.raises(BackendError, match=r"within 0\.2 s \(llm\.code\.timeout\).*llm\.code\.max_tokens=500"):
        model_client.bind("code", "n1")("s", "u")
