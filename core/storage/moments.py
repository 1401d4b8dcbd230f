"""Times of events as the store holds them: text in UTC, or, of what every node has, microseconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
Stored = int | str


def microseconds(at: datetime) -> int:
    """Since 1970."""
    return (at - _EPOCH) // _MICROSECOND


def moment_text(at: Stored | datetime) -> str:
    """A time as text, as SQLite's own functions write and read it; UTC."""
    if isinstance(at, str):
        return at
    return _of(at).replace(tzinfo=None).isoformat(sep=" ", timespec="microseconds")


def moment(at: Stored) -> datetime:
    """A stored time, in UTC. ValueError where it is none."""
    return _of(at) if isinstance(at, int) else datetime.fromisoformat(at).replace(tzinfo=UTC)


def _of(at: int | datetime) -> datetime:
    return at if isinstance(at, datetime) else _EPOCH + at * _MICROSECOND
