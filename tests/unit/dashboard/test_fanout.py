"""The channel: queues, gaps, shared frames, and a tailer that waits for nobody for long."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.timing import in_its_own_time

from dashboard.server.fanout import FRAME_EVENTS, QUEUE_EVENTS, TAKE_SECONDS, Channel, Client

T = TypeVar("T")


def events(first: int, last: int) -> list[tuple[int, str]]:
    return [(seq, f'{{"seq":{seq}}}') for seq in range(first, last + 1)]


def run(job: Awaitable[T]) -> T:
    async def main() -> T:
        return await asyncio.wait_for(job, 20)

    return asyncio.run(main())


async def take(frames: AsyncIterator[str], until: int) -> list[dict[str, Any]]:
    found = []
    async for frame in frames:
        found.append(json.loads(frame))
        if found[-1].get("to", -1) >= until:
            return found
    return found


def seqs(frames: list[dict[str, Any]]) -> list[int]:
    return [event["seq"] for frame in frames if frame["kind"] == "events" for event in frame["events"]]


def test_a_client_gets_every_event_once_in_order():
    async def scenario():
        channel, client = Channel(last=0), Client(0)
        channel.clients.add(client)
        taking = asyncio.create_task(take(channel.frames(client), 2000))
        for first in range(1, 2001, 100):
            channel.publish(events(first, first + 99))
            await channel.taken()
        return await taking

    assert seqs(run(scenario())) == list(range(1, 2001))


def test_a_frame_holds_at_most_256_events():
    async def scenario():
        channel, client = Channel(last=0), Client(0)
        channel.publish(events(1, 1000))
        return await take(channel.frames(client), 1000)

    sizes = [len(frame["events"]) for frame in run(scenario()) if frame["kind"] == "events"]
    assert sizes == [FRAME_EVENTS, FRAME_EVENTS, FRAME_EVENTS, 1000 - 3 * FRAME_EVENTS]


def test_a_slow_client_loses_only_its_own_events_and_is_told_which():
    async def scenario():
        channel = Channel(last=0)
        fast, slow = Client(0), Client(0)
        channel.clients |= {fast, slow}
        slow_frames = channel.frames(slow)
        await anext(slow_frames)  # the status; then it stops asking
        taking = asyncio.create_task(take(channel.frames(fast), 5000))
        for first in range(1, 5001, 250):
            channel.publish(events(first, first + 249))
            await channel.taken()
        return await taking, await take(slow_frames, 5000)

    fast, slow = run(scenario())
    assert seqs(fast) == list(range(1, 5001)) and not [f for f in fast if f["kind"] == "gap"]
    assert slow[0] == {"kind": "gap", "from": 1, "to": 5000 - QUEUE_EVENTS}
    assert seqs(slow) == list(range(5000 - QUEUE_EVENTS + 1, 5001))


def test_a_stalled_client_delays_a_burst_once_and_not_again():
    async def scenario():
        channel, stalled = Channel(last=0), Client(0)
        channel.clients.add(stalled)
        now, times = asyncio.get_running_loop().time, []
        for first in range(1, 1001, 100):
            channel.publish(events(first, first + 99))
            started = now()
            await channel.taken()
            times.append(now() - started)
        return times

    assert in_its_own_time(scenario()) == pytest.approx([TAKE_SECONDS, *[0.0] * 9])


def test_equal_frames_are_built_once():
    async def scenario():
        channel = Channel(last=0)
        one, other = Client(0), Client(0)
        first, second = channel.frames(one), channel.frames(other)
        channel.publish(events(1, 10))
        got = []
        for frames in (first, second):
            await anext(frames)  # status
            got.append(await anext(frames))
        return got

    one, other = run(scenario())
    assert one is other


def test_a_change_of_life_is_told():
    async def scenario():
        channel, client = Channel(last=7), Client(7)
        frames = channel.frames(client)
        first = json.loads(await anext(frames))
        channel.set_live(True)
        return first, json.loads(await anext(frames))

    first, second = run(scenario())
    assert first == {"kind": "status", "live": False, "last_seq": 7}
    assert second["live"] is True


@given(
    st.lists(st.tuples(st.integers(1, 400), st.booleans()), min_size=1, max_size=20),
    st.integers(0, 50),
)
def test_events_and_gaps_tile_the_sequence(bursts, after):
    """Whatever the bursts: what a client got and what it was told it lost is everything, once, in order."""

    async def scenario():
        channel, client = Channel(last=after), Client(after)
        frames = channel.frames(client)
        got = [json.loads(await anext(frames))]
        last = after
        for size, looks in bursts:
            channel.publish(events(last + 1, last + size))
            last += size
            if looks:
                got.append(json.loads(await anext(frames)))
        while client.cursor < last and got[-1].get("to") != last:
            got.append(json.loads(await anext(frames)))
        return got, last

    got, last = run(scenario())
    place = after
    for frame in got[1:]:
        assert frame["from"] == place + 1
        if frame["kind"] == "events":
            assert [event["seq"] for event in frame["events"]] == list(range(frame["from"], frame["to"] + 1))
        place = frame["to"]
    assert place == last


def test_a_closed_channel_ends_its_clients():
    async def scenario():
        channel, client = Channel(last=0), Client(0)
        frames = channel.frames(client)
        await anext(frames)
        waiting = asyncio.ensure_future(anext(frames))
        await asyncio.sleep(0)
        channel.close("gone")
        with pytest.raises(StopAsyncIteration):
            await waiting

    run(scenario())
