"""The queue by itself: which proposal a writer gets, and what is said to those who wait behind one that nobody took."""

from __future__ import annotations

import gc
import threading
import time
import tracemalloc
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from math import inf

import pytest

from core.backend.exchange import Message, Request
from core.events import NodeProposed
from core.loop.round_schedule import RoundSchedule
from core.storage.repository import RunStore
from runs.tickets.names import answered_before, split_ticket
from runs.tickets.queue import Stops, TicketQueue
from utils.errors import Interrupted, StoreError, TicketGone

REQUEST = Request(system="s", messages=(Message(role="user", text="write"),))


@pytest.fixture
def queue(tmp_path):
    finish = threading.Event()
    store = RunStore(tmp_path)
    made = TicketQueue(store, Stops(finish, threading.Event(), lambda: inf), 60)
    threads = []

    def offer(name, round_, slot, context=None):
        def wait():
            with suppress(Interrupted, TicketGone):
                made.reply(name, replace(REQUEST, context=context))

        if round_ is not None:  # a repair is no proposal
            made.emit(NodeProposed(node_id=name, round=round_, slot=slot, operator="draft"))
        threads.append(threading.Thread(target=wait))
        threads[-1].start()
        while made.request_of(name) is None:
            time.sleep(0.005)

    made.offer = offer
    yield made
    finish.set()
    for thread in threads:
        thread.join()
    store.close()


def test_the_first_proposal_of_the_search_is_handed_out_first_whichever_thread_came_first(queue):
    for name, place in (("d", (1, 1)), ("b", (0, 1)), ("c", (1, 0)), ("a", (0, 0)), ("b-feedback-0", (0, 1))):
        queue.offer(name, *place)
    got = [queue.ask([f"{n:032d}"], 1) for n in range(5)]
    assert [ticket.node_id.partition("-")[0] for ticket, _, _ in got] == ["a", "b", "b", "c", "d"]


def test_a_clock_that_is_set_takes_no_ticket_from_its_writer(tmp_path):
    """By an hour forward, and what was being written was told to nobody; by an hour back, and it was held for two."""
    now, steady, made = [1e9], [5.0], RunStore(tmp_path)

    def opened():
        stops = Stops(threading.Event(), threading.Event(), lambda: inf)
        return TicketQueue(made, stops, 60, lambda: now[0], lambda: steady[0])

    token, first = "1" * 32, opened()
    made._clock = lambda: datetime.fromtimestamp(now[0], UTC)
    first._waiting["a"] = REQUEST
    assert first.ask([token], 0)
    now[0] += 3600
    assert first.state("a", token) == "open"
    now[0] -= 7200
    second = opened()
    steady[0] += 61
    assert first.state("a", token) == second.state("a", token) == "expired"
    made.close()


def test_a_proposal_of_a_run_whose_folder_is_gone_waits_for_nobody(tmp_path):
    """Its process went on for an hour, where no writer could come."""
    folder = tmp_path / "run"
    store = RunStore(folder)
    queue = TicketQueue(store, Stops(threading.Event(), threading.Event(), lambda: inf), 60)
    threading.Timer(0.3, partial(folder.rename, tmp_path / "elsewhere")).start()
    with pytest.raises(StoreError, match="removed or moved"):
        queue.reply("a", REQUEST)
    store.close()


def test_who_waits_behind_a_proposal_that_nobody_took_is_told_so(queue):
    queue.offer("b", 0, 1)
    ticket, *_ = queue.ask(["1" * 32], 1)
    queue.offer("a", 0, 0)  # its thread came late
    assert ticket.node_id == "b" and not queue.is_held_up("b"), "somebody may be about to ask"
    began = time.monotonic()
    assert queue.verdict("b", 120) is None and time.monotonic() - began < 60
    assert queue.is_held_up("b")
    queue.ask(["2" * 32], 1)
    assert not queue.is_held_up("b"), "it is being written"


def test_a_round_that_is_judged_together_waits_for_all_of_it_and_for_its_repairs(queue):
    queue.waits_for = partial(RoundSchedule.waits_for, together=True)
    for name, place in (("a", (0, 0)), ("b", (0, 1)), ("c", (1, 0))):
        queue.offer(name, *place)
    tickets = {ticket.node_id: token for ticket, _, token in (queue.ask([f"{n:032d}"], 1) for n in range(3))}
    assert [one.node_id for one in queue.holds_up("a")] == ["b"] and not queue.holds_up("elsewhere")
    assert sorted(one.node_id for one in queue.holds_up("c")) == ["a", "b"]
    queue.tell("b", tickets["b"], "x = 1")
    assert not queue.holds_up("a")
    queue.offer("again", None, None, {"parents": [{"id": "b"}]})
    time.sleep(1.1)
    assert queue.is_held_up("a"), "the repair of a refused program belongs to the round"
    queue.ask(["9" * 32], 1)
    assert not queue.is_held_up("a") and [one.node_id for one in queue.holds_up("a")] == ["again"]


def test_a_question_that_was_answered_is_asked_no_more_though_the_search_has_not_taken_it_yet(queue, monkeypatch):
    late = threading.Event()
    queue.offer("a-feedback-0", None, None)
    monkeypatch.setattr(queue, "_check_stops", late.wait)  # the search's thread comes to it later
    ticket, _, token = queue.ask(["1" * 32], 1)
    assert queue.asks_about("a")
    queue.tell(ticket.node_id, token, "{}")
    asked = queue.asks_about("a")
    late.set()
    assert not asked, "else who waits for the verdict is sent to ask for a question that nobody has"


def test_a_ticket_has_one_name_everywhere_and_a_question_no_program():
    assert split_ticket("run-1/abc.token") == split_ticket("abc.token") == ("abc", "token")
    said = answered_before({"state": "committed", "message": "the answer is taken"}, "abc-feedback-0", "tell")[
        "message"
    ]
    assert said == "this question was answered already, and the first answer is taken; yours was not taken"


def test_what_was_told_and_what_is_over_does_not_stay_in_memory(queue):
    """A run that many writers work on for days held each program that was told, and each event of a verdict."""
    big, told = "x" * 100_000, 20
    tracemalloc.start()
    for number in range(told):
        name, token = f"n{number}", f"{number:032d}"
        queue.offer(name, number, 0)
        queue.ask([token], 1)
        assert queue.tell(name, token, f"{number} {big}") == "told"
    gc.collect()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert held < told * len(big) / 4
    assert queue.told("n3") == f"3 {big}", "it is in the store"
    queue.offer("gone", 99, 0)
    queue.ask(["9" * 32], 1)
    queue.give_up("gone", None)
    assert "gone" not in queue._places
