"""Counts, scores, times and dollars as people say them: in the terminal as on the page (`model/format.ts`)."""

from __future__ import annotations

from datetime import datetime


def counted(number: int, one: str, several: str = "", form: str = "") -> str:
    """`1 step`, `2 steps`, `0 steps`.

    Args:
        several: the plural where an s is not enough: `2 tries`, `2 rows are`.
        form: how the number is written, as in an f-string: `,` parts its thousands.
    """
    return f"{number:{form}} {one if number == 1 else several or f'{one}s'}"


def score(value: float | None) -> str:
    """A metric in six digits; a dash for none."""
    return "–" if value is None else f"{value:.6g}"


def duration(seconds: float | None) -> str:
    """`35 ms`, `2.5 s`, `3 min 05 s`, `12 h 00 min`; a dash for none."""
    if seconds is None:
        return "–"
    if seconds < 59.95:
        return f"{seconds * 1000:.0f} ms" if seconds < 0.0995 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def about(seconds: float) -> str:
    """`35 s`, `12 min`, `2.5 h`: of a time that is guessed, or goes on while it is told."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def dollars(usd: float | None) -> str:
    """`$0.0032`, `$12.50`; a dash for none."""
    return "–" if usd is None else f"${usd:.{4 if usd < 1 else 2}f}"


def local(moment: str | None) -> str:
    """A stored moment (ISO 8601) in this machine's time, as in a run's name; '' for none."""
    return f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d %H:%M}" if moment else ""
