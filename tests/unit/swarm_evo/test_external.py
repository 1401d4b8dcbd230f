"""A run that answers in a way nobody waits for."""

from __future__ import annotations

import pickle
import threading

import pytest

from runs.tickets.server import TicketServer
from swarm_evo import SearchError
from swarm_evo.external import ExternalRun
from utils.errors import StoreError


@pytest.fixture
def refusing(tmp_path):
    """A run whose process answers each request with an error of its own, and what it was asked."""
    heard = []

    def answer(request):
        heard.append(request["verb"])
        if len(heard) > 50:  # ends a test that would ask for ever
            return {"ticket": "late", "next": "tell", "over": False}
        raise StoreError("the database is locked")

    server = TicketServer(tmp_path, answer)
    yield ExternalRun(tmp_path), heard
    server.close()


def test_it_is_sent_to_another_process_and_says_which_run_it_is(tmp_path):
    """`cannot pickle '_thread.lock' object`: a pool of writers had to open the run by its name in each."""
    run = ExternalRun(tmp_path, process=threading.Lock())
    assert pickle.loads(pickle.dumps(run)).folder == tmp_path and repr(run) == f"ExternalRun({tmp_path.name!r})"


def test_the_ticket_of_an_ask_that_was_interrupted_goes_to_the_next(tmp_path, monkeypatch):
    """The stop button on an ask that waits: what it then was given was held by nobody who knew it, for an hour."""
    asked = []

    def call(folder, request):
        asked.append(request)
        if len(asked) == 1:
            raise KeyboardInterrupt
        return {"ticket": f"n1.{asked[0]['token']}", "next": "tell"}

    monkeypatch.setattr("swarm_evo.external.call", call)
    run = ExternalRun(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run.ask()
    assert run.ask()["ticket"].startswith("n1") and asked[1]["known"] == [asked[0]["token"]] and not run._orphans


@pytest.mark.parametrize("seconds", [None, 5])
def test_a_refused_ask_is_an_error_at_once(refusing, seconds):
    run, heard = refusing
    with pytest.raises(SearchError, match="ask could not be answered: the database is locked"):
        run.ask(seconds)
    assert heard == ["ask"]


def test_a_refused_list_of_tickets_is_an_error_too(refusing):
    with pytest.raises(SearchError, match="the database is locked"):
        refusing[0].tickets()
