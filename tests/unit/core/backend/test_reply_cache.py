"""The cache of replies: what waits to be stored is found, and nothing is lost at the end."""

import sqlite3
import time

import pytest

from core.backend.cache import ReplyCache
from core.backend.records import CallKey, blank_record
from core.contracts import CallRecord
from utils.errors import StoreError

LONG = 60.0
"""Seconds that no test waits for."""


def answer(sample: str) -> CallRecord:
    from core.backend.exchange import Message, Request
    from core.backend.settings import ModelSettings

    request = Request(system="", messages=(Message(role="user", text=sample),))
    settings = ModelSettings(role="code", provider="openai", model="m")
    key = CallKey(run_seed=1, node_id=sample, role="code", attempt=0)
    return blank_record("ab" * 32, sample, key, request, settings).model_copy(update={"reply": f"to {sample}"})


def stored(path) -> int:
    with sqlite3.connect(path) as database:
        return int(database.execute("SELECT count(*) FROM reply").fetchone()[0])


def test_answers_that_wait_are_found_and_stored_together_at_the_end(tmp_path):
    path = tmp_path / "c.db"
    cache = ReplyCache(path, delay=LONG)
    for number in range(3):
        cache.save(answer(f"n{number}"))
    assert cache.find("ab" * 32, "n1").reply == "to n1"
    cache.close()
    assert stored(path) == 3 and ReplyCache(path).find("ab" * 32, "n2").reply == "to n2"


def test_what_cannot_be_stored_is_told(tmp_path):
    path = tmp_path / "c.db"
    path.write_text("no database, and long enough to be looked at as one " * 100)
    cache = ReplyCache(path, delay=0.01)
    with pytest.raises(StoreError, match=r"c\.db"):
        for number in range(2000):
            cache.save(answer(f"n{number}"))
            time.sleep(0.005)
    with pytest.raises(StoreError, match=r"c\.db"):
        cache.close()
