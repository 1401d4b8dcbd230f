"""The ledger: no sequence of calls, however threaded, passes the cap."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.backend.exchange import Message, Request, Usage
from core.backend.prices import cost_of, is_priced
from core.backend.settings import ModelSettings, Price
from core.backend.usage import Amount, Ledger, most_tokens
from core.contracts import CallRecord
from utils.errors import BudgetExhausted, Interrupted

calls = st.lists(
    st.tuples(st.integers(1, 400), st.floats(0, 1), st.sampled_from(["answered", "lost", "refused"])), max_size=40
)


@given(calls, st.integers(0, 2000), st.booleans())
def test_the_bill_never_passes_the_cap_with_4_workers(
    plan: list[tuple[int, float, str]], cap: int, in_dollars: bool
) -> None:
    """Replies of random size up to their worst case; some lost, some refused. What was really billed is summed here,
    apart from the ledger, lost calls at their worst."""
    usd = cap / 1000 if in_dollars else None
    ledger = Ledger(tokens=None if in_dollars else cap, usd=usd)
    lock = threading.Lock()
    billed = Amount()
    over: list[Amount] = []

    def one_call(call: tuple[int, float, str]) -> None:
        nonlocal billed
        worst = Amount(call[0], call[0] / 1000)
        try:
            held = ledger.reserve(worst)
        except BudgetExhausted:
            return
        share = {"answered": call[1], "lost": 1.0, "refused": 0.0}[call[2]]
        actual = Amount(int(worst.tokens * share), worst.usd * share)
        with lock:
            billed += actual
            if billed.tokens > cap if not in_dollars else billed.usd > cap / 1000 + 1e-9:
                over.append(billed)
        if call[2] == "lost":
            ledger.lose(held)
        else:
            ledger.settle(held, actual)

    with ThreadPoolExecutor(4) as workers:
        list(workers.map(one_call, plan))
    assert not over
    known = ledger.spent + ledger.lost
    assert known.tokens == billed.tokens
    assert known.usd == pytest.approx(billed.usd)


@given(st.lists(st.integers(1, 100), min_size=1, max_size=30), st.integers(100, 3000))
def test_a_call_that_fits_alone_is_never_refused(sizes: list[int], cap: int) -> None:
    """The budget is used up, not given up early: a refusal means that the known bill leaves no room."""
    ledger = Ledger(tokens=cap)
    for size in sizes:
        try:
            ledger.settle(ledger.reserve(Amount(size)), Amount(size))
        except BudgetExhausted:
            assert ledger.spent.tokens + size > cap


def test_waits_for_room_that_may_come_free() -> None:
    ledger = Ledger(tokens=100)
    first = ledger.reserve(Amount(80))
    with ThreadPoolExecutor(1) as worker:
        second = worker.submit(ledger.reserve, Amount(60))
        assert not second.done()
        ledger.settle(first, Amount(10))
        assert second.result(timeout=60) == Amount(60)


def test_the_end_wakes_a_waiting_reservation() -> None:
    ending = threading.Event()
    ledger = Ledger(tokens=100, ending=ending)
    ledger.reserve(Amount(80))
    threading.Timer(0.05, ending.set).start()
    with pytest.raises(Interrupted):
        ledger.reserve(Amount(60))


def test_a_free_call_passes_under_a_used_up_dollar_cap() -> None:
    ledger = Ledger(usd=1.0)
    ledger.settle(ledger.reserve(Amount(10, 1.0)), Amount(10, 1.0))
    ledger.reserve(Amount(10, 0.0))
    with pytest.raises(BudgetExhausted, match=r"budget\.usd=1\.0 is reached"):
        ledger.reserve(Amount(10, 0.01))


def test_restore_counts_stored_calls() -> None:
    ledger = Ledger(tokens=1000)
    record = CallRecord(request_hash="h", sample="s", prompt_tokens=300, completion_tokens=100, cost_usd=0.5)
    ledger.restore([(record.prompt_tokens, record.completion_tokens, record.cost_usd), (None, None, record.cost_usd)])
    assert ledger.spent == Amount(400, 1.0)


@given(st.text(max_size=300), st.text(max_size=300))
def test_worst_case_covers_one_token_a_byte(system: str, user: str) -> None:
    settings_ = ModelSettings(provider="openai", model="m", max_tokens=50)
    worst = most_tokens(Request(system, (Message("user", user),)), settings_)
    assert worst.prompt >= len((system + user).encode())
    assert worst.completion == 50


@pytest.mark.parametrize(
    ("settings_", "cost"),
    [
        (ModelSettings(), 0.0),
        (ModelSettings(provider="command", model="command"), 0.0),
        (ModelSettings(provider="openai", model="m", base_url="http://127.0.0.1:1/v1"), 0.0),
        (ModelSettings(provider="openai", model="m", base_url="http://127.0.0.1:1/v1", price=Price(1, 2)), 3.0),
        (ModelSettings(provider="openai", model="gpt-4o-mini"), 0.15 + 0.6),
        (ModelSettings(provider="openai", model="gpt-4o-mini", base_url="https://elsewhere.example/v1"), None),
        (ModelSettings(provider="openai", model="nobody-knows-it"), None),
        (ModelSettings(provider="anthropic", model="claude-haiku-4-5"), 1.0 + 5.0),
    ],
)
def test_prices(settings_: ModelSettings, cost: float | None) -> None:
    found = cost_of(settings_, Usage(1_000_000, 1_000_000))
    assert found == (None if cost is None else pytest.approx(cost))
    assert is_priced(settings_) is (cost is not None)


def test_tokens_read_from_the_providers_cache_cost_less() -> None:
    settings_ = ModelSettings(provider="openai", model="gpt-4o-mini")
    assert (cost_of(settings_, Usage(1000, 0, cached=1000)) or 0) < (cost_of(settings_, Usage(1000, 0)) or 0)


@pytest.mark.parametrize("price", [None, Price(2.0, 10.0, 0.2)])
def test_tokens_written_into_the_providers_cache_cost_more_where_they_do(price: Price | None) -> None:
    """With a price of the user's, as any model needs that no list names yet, they cost no more than others: a quarter
    of a prompt's price was missing, and the bill could pass its cap."""
    settings_ = ModelSettings(provider="anthropic", model="claude-sonnet-5", price=price)
    assert cost_of(settings_, Usage(1000, 0, written=1000)) == pytest.approx(1.25 * 0.002)
    assert cost_of(settings_, Usage(1000, 100, cached=600, written=300)) == pytest.approx(
        (100 * 2.0 + 600 * 0.2 + 300 * 2.5 + 100 * 10.0) / 1e6
    )
    other = ModelSettings(provider="openai", model="m", base_url="https://h.example/v1", price=Price(2.0, 10.0))
    assert cost_of(other, Usage(1000, 0, written=1000)) == pytest.approx(0.002)


def test_the_machines_take_from_the_dollars_of_the_calls():
    hours = 0.0
    ledger = Ledger(usd=1.0, machine_usd=lambda: hours * 0.5)
    ledger.settle(ledger.reserve(Amount(usd=0.6)), Amount(usd=0.4))
    hours = 1.0
    with pytest.raises(BudgetExhausted, match=r"\$0\.4000 used and \$0\.5000 for the machines"):
        ledger.reserve(Amount(usd=0.2))
    assert ledger.reserve(Amount(usd=0.1)).usd == 0.1


@pytest.mark.parametrize(
    ("caps", "told"),
    [
        (
            {"usd": 1.0},
            r"\$0\.1000 used and \$0\.6000 held for calls that broke off and may have been billed, the next",
        ),
        ({"tokens": 100}, r"10 used and 60 held for calls that broke off and may have been billed, the next"),
    ],
)
def test_what_is_only_held_is_not_told_as_used(caps: dict[str, float], told: str):
    ledger = Ledger(**caps)  # type: ignore[arg-type]
    ledger.settle(ledger.reserve(Amount(20, 0.2)), Amount(10, 0.1))
    ledger.lose(ledger.reserve(Amount(60, 0.6)))
    with pytest.raises(BudgetExhausted, match=told):
        ledger.reserve(Amount(40, 0.4))
