"""What a search found, read from its store with the standard library alone."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class Best:
    """The winning program."""

    code: str
    metric: float
    node_id: str
    metric_source: str
    """`verified`, `unisolated` or `claimed`."""


@dataclass(frozen=True, slots=True)
class Result:
    """A finished run."""

    run: str
    folder: Path
    """`logs/<run>`."""
    best: Best | None
    """None if no valid program was found."""
    facts: Mapping[str, Any]
    """What `show RUN --json` prints."""

    @property
    def final_metric(self) -> float | None:
        """The winner's score on the part that the search never saw."""
        return self.facts.get("final_metric")

    @property
    def verdict(self) -> str:
        """Is it better than what was there before, and how sure is that: as every surface says it."""
        return str((self.facts.get("verdict") or {}).get("text", ""))

    def frame(self) -> pandas.DataFrame:
        """One row a step, as in metrics.json."""
        import pandas

        return pandas.DataFrame(json.loads((self.folder / "metrics.json").read_text(encoding="utf-8")))


def read_result(folder: Path, facts: Mapping[str, Any]) -> Result:
    """The result of the run in `folder`."""
    best_id = facts.get("best_node_id")
    best = None
    if best_id is not None and facts.get("best_metric") is not None:
        best = Best(_code(folder / "run.db", best_id), facts["best_metric"], best_id, facts["metric_source"])
    return Result(str(facts["run"]), folder, best, facts)


def _code(store: Path, node_id: str) -> str:
    connection = sqlite3.connect(f"{store.resolve().as_uri()}?mode=ro", uri=True)
    try:
        (body,) = connection.execute("SELECT code FROM candidates WHERE id = ?", (node_id,)).fetchone() or (None,)
        if body is None:  # a baseline that was scored beside the search won
            (final,) = connection.execute("SELECT value FROM facts WHERE key = 'final'").fetchone() or ("{}",)
            return str((json.loads(final).get("program") or {}).get("code", ""))
    finally:
        connection.close()
    if isinstance(body, bytes):  # the text holds half a character, which SQLite cannot show
        return (body[1:] if body[:1] == b"\0" else zlib.decompress(body)).decode("utf-8", "surrogatepass")
    return str(body or "")
