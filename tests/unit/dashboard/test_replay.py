"""The simulated clock of a replay: the run's own rhythm, divided by the speed, without its nights."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.timing import in_its_own_time

from core.events import Warned
from core.storage.repository import RunStore
from dashboard.server.replay import LONGEST_PAUSE, Replay
from dashboard.server.schemas.control import NoteRequest
from dashboard.server.serving import serve_replay
from runs.control import MAX_NOTE
from utils.errors import ConfigError


def store(folder: Path, gaps: list[float]) -> Path:
    """A run whose events follow each other after these seconds."""
    times: Iterator[datetime] = iter(
        datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=sum(gaps[:i])) for i in range(len(gaps) + 1)
    )
    made = RunStore(folder, clock=lambda: next(times))
    for number in range(len(gaps) + 1):
        made.append([Warned(text=str(number))])
    made.close()
    return folder


def play(replay: Replay) -> list[tuple[float, dict]]:
    async def playing() -> list[tuple[float, dict]]:
        now = asyncio.get_running_loop().time
        return [(now(), json.loads(frame)) async for frame in replay.frames()]

    return in_its_own_time(playing())


def events(found: list[tuple[float, dict]]) -> list[int]:
    return [event["seq"] for _, frame in found if frame["kind"] == "events" for event in frame["events"]]


def test_the_rhythm_is_kept(tmp_path):
    run = store(tmp_path / "run", [2.0, 6.0, 0.0, 2.0])
    found = play(Replay(run, speed=20))
    assert events(found) == [1, 2, 3, 4, 5] and found[-1][1]["kind"] == "end"
    at = {frame["from"]: when for when, frame in found if frame["kind"] == "events"}
    assert (at[1], at[2] - at[1], at[3] - at[2]) == pytest.approx((0.0, 0.1, 0.3))
    assert 4 not in at, "what happened at once is told at once"


def test_a_night_between_two_events_is_not_waited_for(tmp_path):
    run = store(tmp_path / "run", [12 * 3600.0])
    found = play(Replay(run, speed=1))
    assert events(found) == [1, 2] and found[-1][0] == pytest.approx(LONGEST_PAUSE)


def test_a_replay_goes_on_after_a_seq(tmp_path):
    run = store(tmp_path / "run", [0.1] * 9)
    assert events(play(Replay(run, after=7, speed=100))) == [8, 9, 10]


def test_a_clock_that_went_backwards_does_not_stop_it(tmp_path):
    run = store(tmp_path / "run", [5.0, -3600.0, 1.0])
    assert events(play(Replay(run, speed=100))) == [1, 2, 3, 4]


def test_frames_hold_at_most_256_events(tmp_path):
    made = RunStore(tmp_path / "run", clock=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    made.append([Warned(text="x") for _ in range(1000)])
    made.close()
    found = play(Replay(tmp_path / "run", speed=10))
    assert events(found) == list(range(1, 1001))
    assert max(len(frame.get("events", ())) for _, frame in found) <= 256


@pytest.mark.parametrize("speed", [0, -1, 1e6, float("nan")])
def test_a_speed_that_the_socket_would_refuse_is_refused_before_anything_is_served(run_dir_of_nothing, speed):
    with pytest.raises(ConfigError, match="--speed="):
        serve_replay(run_dir_of_nothing, "127.0.0.1", 0, speed)


@pytest.fixture
def run_dir_of_nothing(tmp_path):
    return tmp_path / "logs" / "run"


def test_a_note_is_as_long_as_the_search_takes_it():
    assert NoteRequest.model_json_schema()["properties"]["text"]["maxLength"] == MAX_NOTE
