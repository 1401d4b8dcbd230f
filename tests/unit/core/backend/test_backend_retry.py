"""Retries: how often, how long, and what ends them."""

from __future__ import annotations

import random
import socket
import ssl
import threading
import time
from dataclasses import replace

import pytest

from core.backend.clients import RateLimiter
from core.backend.deadline import Callers, Deadline, call_within
from core.backend.faults import read_fault
from core.backend.retry import LONGEST_WAIT, Retrier, RetryPolicy
from core.backend.settings import ModelSettings
from utils.errors import (
    BackendAuthError,
    BackendBusyError,
    BackendError,
    BudgetExhausted,
    Interrupted,
    LostReplyError,
    RefusedError,
    RunStopped,
    WrongAddressError,
)


class Clock(threading.Event):
    """An Event whose waits take no time and are written down."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []
        self.now = 0.0

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout or 0.0)
        self.now += timeout or 0.0
        return self.is_set()


def retrier_on_a_clock() -> tuple[Retrier, Clock]:
    clock = Clock()
    return Retrier(clock, random.Random(0)), clock


def failing(errors: list[Exception]):  # type: ignore[no-untyped-def]
    left = iter(errors)

    def send(attempt: int) -> str:
        error = next(left, None)
        if error is not None:
            raise error
        return f"answer {attempt}"

    return send


def test_default_waits_are_10_20_40_80_seconds_with_jitter() -> None:
    retrier, clock = retrier_on_a_clock()
    told: list[tuple[str, float]] = []
    with pytest.raises(BackendBusyError, match="after 5 attempts"):
        retrier.call(
            failing([BackendBusyError("busy")] * 9), RetryPolicy(), lambda reason, wait: told.append((reason, wait))
        )
    assert len(clock.waits) == 4
    for wait, planned in zip(clock.waits, (10, 20, 40, 80), strict=True):
        assert planned <= wait <= 1.25 * planned
    assert [wait for _, wait in told] == clock.waits


def test_retry_after_is_kept_and_goes_before_the_plan() -> None:
    retrier, clock = retrier_on_a_clock()
    answer = retrier.call(failing([BackendBusyError("429", 33.0), BackendBusyError("429", 0.5)]), RetryPolicy())
    assert answer == "answer 3"
    assert 33.0 <= clock.waits[0] <= 36.3
    assert 0.5 <= clock.waits[1] <= 0.55


QUOTA = (
    "You exceeded your current quota, please check your plan and billing details. * Quota exceeded for metric: "
    "generate_content_free_tier_requests, limit: 10\nPlease retry in 34.4s."
)


def test_googles_limit_a_minute_is_busy_for_as_long_as_its_body_says() -> None:
    errors = pytest.importorskip("google.genai.errors")
    details = [{"@type": "type.googleapis.com/google.rpc.Help"}, {"retryDelay": "34.4s"}]
    body = {"error": {"code": 429, "message": QUOTA, "status": "RESOURCE_EXHAUSTED", "details": details}}
    settings = ModelSettings(provider="gemini", model="gemini-2.5-flash")
    fault = read_fault(errors.ClientError(429, body), settings)
    assert isinstance(fault, BackendBusyError) and fault.retry_after == 34.4
    wrong = {"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}}
    told = read_fault(errors.ClientError(400, wrong), settings)
    assert isinstance(told, BackendAuthError) and str(told).endswith("GEMINI_API_KEY or GOOGLE_API_KEY")
    for odd in ({"error": {"details": 3}}, {"error": {"details": [{"retryDelay": 5}, {"retryDelay": "soon"}]}}, [1]):
        fault = read_fault(errors.ClientError(429, odd), settings)
        assert isinstance(fault, BackendBusyError) and fault.retry_after is None


@pytest.mark.parametrize(
    "number, is_unknown", [(socket.EAI_NONAME, True), (socket.EAI_NODATA, True), (socket.EAI_AGAIN, False)]
)
def test_a_machine_without_a_network_is_waited_for_and_a_name_that_nobody_has_is_not(number, is_unknown) -> None:
    """Both come as a failure to look a name up; the one ends a search that nothing has answered."""
    settings = ModelSettings(provider="openai", model="m", base_url="http://models.example/v1")
    error = socket.gaierror(number, "nobody knows")
    assert isinstance(read_fault(error, settings), WrongAddressError) is is_unknown


def test_a_server_whose_certificate_nobody_trusts_is_a_wrong_address() -> None:
    """It was asked for minutes, until the run ended without a word on what to do."""
    settings = ModelSettings(provider="openai", model="m", base_url="https://models.example/v1")
    plain = ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number")
    plain.reason = "WRONG_VERSION_NUMBER"
    for error, told in ((ssl.SSLCertVerificationError("self-signed"), "SSL_CERT_FILE"), (plain, "speaks no TLS")):
        fault = read_fault(error, settings)
        assert isinstance(fault, WrongAddressError) and told in str(fault)
        assert str(fault).endswith("see llm.code.base_url")
    assert not isinstance(read_fault(ssl.SSLError(1, "broken"), settings), WrongAddressError)


def test_a_proxy_that_makes_no_way_is_named_and_nothing_was_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was never sent was held at its worst case, five times over; the model's address was told to be wrong."""
    proxy_error = type("ProxyError", (Exception,), {"__module__": "httpx2"})("407 Proxy Authentication Required")
    settings = ModelSettings(provider="openai", model="m")
    for name in ("NO_PROXY", "no_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://user:secret@proxy.example:3128")
    fault = read_fault(proxy_error, settings)
    assert type(fault) is BackendBusyError and "secret" not in str(fault)
    assert str(fault).endswith("(no connection by the proxy http://proxy.example:3128 that the environment names)")
    unknown = str(read_fault(socket.gaierror(socket.EAI_NONAME, "nobody knows"), settings))
    assert unknown.endswith("has the name of the proxy http://proxy.example:3128 that the environment names)")
    here = replace(settings, base_url="http://127.0.0.1:9/v1")
    assert str(read_fault(ConnectionRefusedError("no"), here)).endswith("(no connection)")


def test_a_server_that_asks_for_hours_is_given_up() -> None:
    retrier, clock = retrier_on_a_clock()
    with pytest.raises(BackendError, match="asks to wait"):
        retrier.call(failing([BackendBusyError("429", LONGEST_WAIT + 1)]), RetryPolicy())
    assert clock.waits == []
    with pytest.raises(BackendBusyError):  # nobody waits after the last try, so the server's wish is no fault
        retrier.call(failing([BackendBusyError("429", LONGEST_WAIT + 1)]), RetryPolicy(attempts=1))


@pytest.mark.parametrize("error", [BackendAuthError("401"), RefusedError("400", 400), BackendError("no")])
def test_never_after_an_error_that_stays(error: Exception) -> None:
    retrier, clock = retrier_on_a_clock()
    with pytest.raises(type(error)):
        retrier.call(failing([error]), RetryPolicy())
    assert clock.waits == []


def test_no_wait_outlives_the_runs_time_and_nothing_is_asked_after_it() -> None:
    clock, told = Clock(), []
    retrier = Retrier(clock, random.Random(0), lambda: 100.0 - clock.now)

    def asked(attempt: int) -> str:
        clock.now += 20  # each try hangs for its own limit
        raise LostReplyError("command/cmd: no complete reply within 20 s")

    with pytest.raises(
        BudgetExhausted, match=r"budget\.seconds: it ends before .* again: command/cmd: no complete reply"
    ):
        retrier.call(asked, RetryPolicy(), lambda reason, wait: told.append(wait))
    assert clock.now < 100 and len(clock.waits) == 2, "10 and 20 s fit, 40 s would not"
    assert [round(wait, 3) for wait in told] == [round(wait, 3) for wait in clock.waits], "of the third nobody is told"
    clock.now = 100.0
    with pytest.raises(BudgetExhausted, match=r"budget\.seconds"), RateLimiter(1, None, retrier).permit():
        pytest.fail("a call may not begin")
    clock.set()
    with pytest.raises(RunStopped):
        retrier.sleep(0)


def test_stop_ends_a_wait_at_once() -> None:
    stop = threading.Event()
    threading.Timer(0.05, stop.set).start()
    started = time.monotonic()
    with pytest.raises(RunStopped):
        Retrier(stop).call(failing([BackendBusyError("busy")] * 9), RetryPolicy(backoff=60))
    assert time.monotonic() - started < 25


def test_the_end_that_the_user_wants_ends_waits_and_no_call() -> None:
    ending, stop = threading.Event(), threading.Event()
    retrier = Retrier(stop, ending=ending)
    limiter = RateLimiter(1, None, retrier)
    with limiter.permit():
        threading.Timer(0.05, ending.set).start()
        started = time.monotonic()
        with pytest.raises(Interrupted):
            retrier.call(failing([BackendBusyError("busy")] * 9), RetryPolicy(backoff=60))
        with pytest.raises(Interrupted), limiter.permit():
            pytest.fail("what waits for another call's end is not begun")
        assert time.monotonic() - started < 25
    limiter.pause(60.0)
    with pytest.raises(Interrupted), limiter.permit():
        pytest.fail("the server is busy for a minute")
    assert retrier.call(failing([]), RetryPolicy()) == "answer 1", "what is under way asks what it needs"
    stop.set()
    with pytest.raises(RunStopped):
        retrier.sleep(60)


def test_the_deadline_holds_against_a_call_that_never_returns() -> None:
    release = threading.Event()
    started = time.monotonic()
    with pytest.raises(LostReplyError, match=r"no complete reply within 0\.1 s"):
        call_within(Deadline(0.1), lambda: release.wait(30), threading.Event(), "openai/m", Callers())
    assert time.monotonic() - started < 25
    release.set()


def test_stop_gives_up_a_call_under_way() -> None:
    stop, release = threading.Event(), threading.Event()
    threading.Timer(0.05, stop.set).start()
    deadline = Deadline(60)
    with pytest.raises(RunStopped):
        call_within(deadline, lambda: release.wait(30), stop, "openai/m", Callers())
    assert deadline.cut
    with pytest.raises(TimeoutError):
        deadline.check()
    release.set()


def test_requests_a_minute_are_spaced_evenly() -> None:
    retrier, clock = retrier_on_a_clock()
    limiter = RateLimiter(4, 30.0, retrier, clock=lambda: clock.now)
    for _ in range(4):
        with limiter.permit():
            pass
    assert [wait for wait in clock.waits if wait] == [pytest.approx(2.0)] * 3


def test_a_pause_holds_everybody_back() -> None:
    retrier, clock = retrier_on_a_clock()
    limiter = RateLimiter(4, None, retrier, clock=lambda: clock.now)
    limiter.pause(7.0)
    with limiter.permit():
        pass
    assert max(clock.waits) == pytest.approx(7.0)


def test_concurrency_is_kept() -> None:
    limiter = RateLimiter(2, None, Retrier(threading.Event()))
    inside, most, lock = 0, 0, threading.Lock()

    def pass_through() -> None:
        nonlocal inside, most
        with limiter.permit():
            with lock:
                inside += 1
                most = max(most, inside)
            time.sleep(0.01)
            with lock:
                inside -= 1

    threads = [threading.Thread(target=pass_through) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 2
