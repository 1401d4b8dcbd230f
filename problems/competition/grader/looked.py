"""What facts are told from: as many rows of a table as tell enough, read as programs read them."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .pieces import PLAIN, open_table
from .tables import read_table


@dataclass(frozen=True, slots=True)
class Looked:
    """A table of `public/`.

    Args:
        rows: at most `LOOKED_AT` of the training table, spread over it; those of the test.
        count: of all rows.
    """

    rows: Any
    count: int

    @property
    def share(self) -> float:
        """Part of the rows that was looked at."""
        return len(self.rows) / max(1, self.count)


def as_programs_read(rows: Any, count: int) -> Looked:
    """Rows of a table that was written, as they come back from its file."""
    text = io.StringIO()
    rows.to_csv(text, index=False)
    text.seek(0)
    return Looked(read_table(text), count)


def looked_at(public: Path) -> dict[str, Looked]:
    """`train` and `test`, where there are such files."""
    found = {}
    for name in ("train", "test"):
        if (public / f"{name}.csv").is_file():
            table, _ = open_table(public / f"{name}.csv", PLAIN)
            found[name] = Looked(table.sample(), table.count)
    return found
