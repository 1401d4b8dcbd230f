"""A row of proposals shares what one call gave: the same for any number of threads, schedule and end of the process."""

from __future__ import annotations

import json
import re
import threading
import time

import pytest
from support.loop import Crash, DyingStore, open_loop, told
from support.plugins.toy import ToyEvaluator, ToyWriter

from agents.ideas import ROLE
from core.search.three_phase import ThreePhaseOptions, ThreePhasePolicy
from core.storage.reader import RunReader

ROW = 3
STEPS = 14


class Inspired(ToyWriter):
    """Gives ideas that name the task that asked for them."""

    def write(self, context, rng):
        if context.get("role") != ROLE:
            return super().write(context, rng)
        return json.dumps({"ideas": [f"idea {context['task']['round']}.{place}" for place in range(context["count"])]})


class Garbled(ToyWriter):
    """Takes the call for ideas as one for a program."""


def loop(folder, writers=4, schedule="pipeline", together=False, **options):
    return open_loop(
        folder, steps=STEPS, batch=ROW, writers=writers, schedule=schedule, ideas=ROW,
        writer=options.pop("writer", None) or Inspired(), evaluator=ToyEvaluator(together=together),
        policy=ThreePhasePolicy(ThreePhaseOptions(num_drafts=3)), **options,
    )  # fmt: skip


def calls(folder):
    """(round, slot, role, prompt) of all calls, by round."""
    with RunReader(folder) as reader:
        tasks = reader.tasks()
        found = [(tasks[c.node_id].round, tasks[c.node_id].slot, c.role, c.user) for c in reader.calls()]
    return sorted(found)


WAYS = {"pipeline": {}, "rounds": {"schedule": "rounds"}, "together": {"together": True}}


@pytest.mark.parametrize("way", WAYS)
def test_each_idea_is_given_once_and_asked_for_once_a_row(tmp_path, way):
    loop(tmp_path, **WAYS[way]).run()
    made = calls(tmp_path)
    given = [re.findall(r"idea \d+\.\d", text) for _, _, role, text in made if role == "code"]
    given = [idea for found in given for idea in found]
    assert len(given) >= 6 and len(given) == len(set(given))
    rows = [(round_ // ROW if way == "pipeline" else round_) for round_, _, role, _ in made if role == ROLE]
    assert len(rows) == len(set(rows)) and len(given) <= ROW * len(rows)


def test_who_asks_ahead_is_told_what_writers_are_at_work_on(tmp_path):
    loop(tmp_path).run()
    asked = [
        re.findall(r"^- (idea \d+)\.\d$", text, re.MULTILINE) for _, _, role, text in calls(tmp_path) if role == ROLE
    ]
    assert asked[0] == [], "nobody is at work yet"
    assert all(len(given) == ROW and len(set(given)) == 1 for given in asked[1:]) and len(asked) > 2
    assert len({given[0] for given in asked[1:]}) == len(asked) - 1


@pytest.mark.parametrize("way", WAYS)
def test_any_number_of_threads_asks_the_same(tmp_path, way):
    made = []
    for writers in (1, 2, 16):
        run = loop(tmp_path / str(writers), writers, **WAYS[way])
        run.run()
        made.append((run.journal.sha256, calls(tmp_path / str(writers))))
    assert made[0] == made[1] == made[2]


def test_an_unreadable_reply_is_kept_and_the_search_goes_on(tmp_path):
    run = loop(tmp_path, writer=Garbled())
    assert run.run() == f"max_steps: {STEPS} of {STEPS} steps"
    made = calls(tmp_path)
    rows = [round_ // ROW for round_, _, role, _ in made if role == ROLE]
    assert len(rows) == len(set(rows)), "nobody asks again"
    assert any("Yours is " in text for _, _, role, text in made if role == "code")


@pytest.mark.parametrize(
    ("way", "every"),
    [
        pytest.param("pipeline", 5, marks=pytest.mark.sample),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in [*((way, 5) for way in WAYS if way != "pipeline"), ("pipeline", 2)]
        ),
    ],
)
def test_after_a_crash_at_any_write_the_same_is_asked(tmp_path, way, every):
    stores = []

    def counting(store):
        stores.append(DyingStore(store, 10**9, "after"))
        return stores[0]

    whole = loop(tmp_path / "whole", 1, wrap=counting, **WAYS[way])
    whole.run()
    expected = told(whole.journal), whole.journal.sha256, calls(tmp_path / "whole")
    for at in range(1, len(stores[0].writes) + 1, every):
        folder = tmp_path / str(at)
        died = loop(folder, 1, wrap=lambda store, at=at: DyingStore(store, at, "after"), **WAYS[way])
        with pytest.raises(Crash):
            died.run()
        again = loop(folder, 1, **WAYS[way])
        again.run()
        assert (told(again.journal), again.journal.sha256, calls(folder)) == expected, f"at write {at}"


@pytest.mark.parametrize("stop", [KeyboardInterrupt, ValueError])
def test_who_stops_now_does_not_wait_for_what_is_asked_ahead(tmp_path, stop):
    """A second Ctrl-C gives up the call for the next row's ideas; any other end waits for its reply."""
    held, asked = threading.Event(), threading.Event()

    class Slow(Inspired):
        def write(self, context, rng):
            if context.get("role") == ROLE and context["task"]["round"] >= ROW:
                asked.set()
                held.wait(60)
            return super().write(context, rng)

    def limit(progress):
        if asked.is_set():
            raise stop

    run = loop(tmp_path, writer=Slow(), stop=limit)
    if stop is ValueError:
        threading.Timer(0.5, held.set).start()
    began = time.monotonic()
    with pytest.raises(stop):
        run.orchestrator.run()
    assert time.monotonic() - began < 50
    assert held.is_set() is (stop is ValueError)
    held.set()
    run.close()
