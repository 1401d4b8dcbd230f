"""The open tickets of a run as people and agents are told of them: who holds each, since when, and how it gets free."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from core.storage.ticket_store import Ticket
from runs.tickets.words import Words
from utils.counts import about

MOST_NAMED = 3
"""Tickets that one sentence names."""


def rows_of(tickets: Iterable[Ticket], now: float | None = None) -> list[dict[str, Any]]:
    """A row an open ticket, the oldest first: `{node_id, holder, since, age_s, expires_at, left_s, checks}`.

    `since` and `expires_at` are seconds since the epoch. No token: only its holder has it.
    """
    now = time.time() if now is None else now
    open_ = sorted((one for one in tickets if one.state == "open"), key=lambda one: one.since or 0.0)
    return [
        {
            "node_id": one.node_id,
            "holder": one.holder,
            "since": one.since,
            "age_s": None if one.since is None else round(max(0.0, now - one.since), 1),
            "expires_at": one.expires_at,
            "left_s": round(max(0.0, one.expires_at - now), 1),
            "checks": one.checks,
        }
        for one in open_
    ]


def line_of(row: dict[str, Any], asker: str = "") -> str:
    """`ab12… with `ask --dir work` since 15:02:11 UTC (12 min), 48 min left`.

    Args:
        asker: the holder that is told, where it is known to be one process.
    """
    since = ""
    if row["since"] is not None:
        clock = datetime.fromtimestamp(row["since"], UTC)
        since = f" since {clock:%H:%M:%S} UTC ({about(row['age_s'])})"
    left = f"{about(row['left_s'])} left" if row["left_s"] > 0 else "it has expired"
    you = ", that is you," if asker and row["holder"] == asker else ""
    return f"{row['node_id']} with {row['holder'] or 'a writer without a name'}{you}{since}, {left}"


def no_ticket(rows: Sequence[dict[str, Any]], words: Words, run: str, asker: str = "") -> str:
    """Why there is no ticket, and what frees one. `asker`: see `line_of`."""
    held = in_the_way("every proposal that search.batch has out at once is with a writer", rows, words, run, asker)
    return held or "no proposal is ready yet; ask again"


def no_verdict(rows: Sequence[dict[str, Any]], words: Words, run: str, asker: str = "") -> str:
    """For whom the verdict on a told program waits, and what brings it; '' where for nobody. `asker`: see `line_of`."""
    return in_the_way("its verdict waits until these are written too", rows, words, run, asker)


def in_the_way(what: str, rows: Sequence[dict[str, Any]], words: Words, run: str, asker: str) -> str:
    """What waits, for whom, and what frees it; '' where no ticket is open."""
    if not rows:
        return ""
    named = "; ".join(line_of(row, asker) for row in rows[:MOST_NAMED]) + ("; …" if len(rows) > MOST_NAMED else "")
    return f"{what}: {named}. {words.free.format(run=run, ticket=rows[0]['node_id'])}"
