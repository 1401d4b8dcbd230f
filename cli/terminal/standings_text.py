"""Standings as lines of the terminal. Names come from engines: they are printed as plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reports.duel import duel_text
from utils.clean_text import one_line


def standings_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """A head and one line an engine, from `core.arena.standings.table_rows`."""
    lines = [f"{'engine':<32} {'Elo':>7} {'95 %':>17} {'won':>5} {'drawn':>5} {'lost':>5} {'score':>6}"]
    for row in rows:
        interval = "" if row["low"] is None else f"{row['low']:+.0f}..{row['high']:+.0f}"
        elo = "" if row["elo"] is None else f"{row['elo']:+.0f}"
        lines.append(
            f"{one_line(row['name'], 32):<32} {elo:>7} {interval:>17} {row['wins']:>5} {row['draws']:>5}"
            f" {row['losses']:>5} {100 * row['score']:>5.1f}%"
        )
    return lines


def final_text(final: Mapping[str, Any]) -> str:
    """What fresh games say of the winner, and its direct match against the starting champion, in one line."""
    text = f"final: {final['message']}"
    direct = duel_text(final.get("detail", {}).get("head_to_head"))
    return f"{text}; in the direct match {direct}" if direct else text
