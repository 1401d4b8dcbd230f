"""What travels on the socket."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from core.events import Event
from dashboard.server.schemas.base import Model


class EventsFrame(Model):
    """Server → client on `/ws`: at most 256 events, `seq` from…to."""

    kind: Literal["events"]
    from_: int = Field(alias="from")
    to: int
    events: list[Event]


class GapFrame(Model):
    """This client was too slow: it lost the events from…to (both included) and can fetch them by REST."""

    kind: Literal["gap"]
    from_: int = Field(alias="from")
    to: int


class StatusFrame(Model):
    """Told on connecting and when it changes."""

    kind: Literal["status"]
    live: bool
    last_seq: int


class EndFrame(Model):
    """A replay has shown everything."""

    kind: Literal["end"]
    last_seq: int


class ReplayCommand(Model):
    """Client → server during a replay."""

    speed: float | None = Field(None, ge=0.1, le=10_000)
    paused: bool | None = None


FRAMES = (EventsFrame, GapFrame, StatusFrame, EndFrame, ReplayCommand)
