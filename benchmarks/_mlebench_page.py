"""The page of MLE-bench's competitions, as `benchmarks.mlebench` keeps it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

KINDS = {
    "runs": "run",
    "data": "need raw data",
    "package": "need raw data and a package",
    "cannot": "cannot",
}
"""Kind of a row → how many of them are counted as."""
HEAD = """# MLE-bench's competitions

Written by `python -m benchmarks.mlebench CHECKOUT`; do not edit. {day}, {of}{count} competitions: {counts}.

- **runs**: its data were here; its `prepare.py` made them ready and its `grade.py` scored the sample submission.
- **needs raw data**: scoring and preparing import with what is installed here; Kaggle's data, which nobody may pass on,
  were not here (`mlebench prepare -c NAME` fetches them). Put them where [competitions](competitions.md) says.
- **needs a package** too: what the competition imports and what is neither installed nor written anew here. Where only
  *preparing* needs it, a folder that somebody prepared elsewhere works without.
- **cannot**: and why.

Grader: its own name, in brackets the metric of ours that it is, and by that name whether higher (↑) or lower (↓) is
better; it is asked itself before a search relies on that.

| competition | grader | here |
|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One competition.

    Args:
        kind: a key of `KINDS`.
        why: what it needs, or why it cannot; of one that runs the score of its sample submission.
    """

    name: str
    grader: str
    kind: str
    why: str

    @property
    def told(self) -> str:
        said = {"runs": "runs", "data": "needs raw data", "package": "needs raw data", "cannot": "cannot"}[self.kind]
        mark = ": " if self.kind == "cannot" else "; "
        return f"{said}{mark}{self.why}" if self.why else said


def page(rows: list[Row], day: str, commit: str) -> str:
    """The whole page."""
    counts = Counter(row.kind for row in rows)
    counted = ", ".join(f"{counts[kind]} {said}" for kind, said in KINDS.items())
    of = f"of commit {commit}, " if commit else ""
    head = HEAD.format(day=day, of=of, count=len(rows), counts=counted)
    return head + "".join(f"| {row.name} | {_cell(row.grader)} | {_cell(row.told)} |\n" for row in rows)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
