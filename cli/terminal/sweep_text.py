"""A sweep as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.text import Text

from cli.terminal.console import VisibleConsole
from reports.sweeps.lines import SweepLine
from reports.sweeps.table import SweepRow, SweepTable
from utils.counts import dollars, duration, local
from utils.direction import Direction

COLUMNS = ("setting", "seeds", "mean", "gain", "lead", "search time", "cost")


def print_sweep(table: SweepTable) -> None:
    """One line a setting; what is compared stands above, what is missing below."""
    console = VisibleConsole()
    better = Direction(table.lower_is_better).word
    where = "unseen part" if table.score == "final" else "validation part"
    what = f"score on the {where} ({better} is better), mean over the seeds with 95 % interval"
    console.print(Text(f"{table.name}: {table.problem}, {what}"))
    if len(table.rows) > 1:
        said = "gain: over the first setting, lead: over the best other one; paired by seed, above 0 is better"
        console.print(Text(said))
    if len(table.rows) > 2:
        console.print(
            Text("with 95 % the intervals of gains hold for all settings together, those of leads for all pairs")
        )
    console.table(COLUMNS, [(row.name, *_cells(row)) for row in table.rows])
    if table.lacking:
        console.print(Text(table.lacking))
    states = Counter(cell.status for cell in table.cells if cell.status != "finished")
    if states:
        console.print(Text("not finished: " + ", ".join(f"{count} {state}" for state, count in states.items())))
    if without := sum(row.without for row in table.rows):
        console.print(Text(f"without a valid program, and so in no mean: {without}"))


def print_sweeps(lines: Sequence[SweepLine]) -> None:
    """A line a sweep, the newest first."""
    heads = ("sweep", "problem", "status", "started", "settings", "seeds", "runs begun")
    VisibleConsole().table(heads, [_of_list(line) for line in lines])


def _of_list(line: SweepLine) -> tuple[str, ...]:
    begun = f"{line.begun} of {line.settings * line.seeds}"
    return line.name, line.problem, line.status, local(line.started_at), str(line.settings), str(line.seeds), begun


def _cells(row: SweepRow) -> tuple[str, ...]:
    return (
        str(row.runs), _pair(row.mean, row.interval), _gain(row.gain, row.gain_interval, row.verdict), _lead(row),
        duration(row.seconds), dollars(row.cost_usd),
    )  # fmt: skip


def _pair(mean: float | None, interval: tuple[float, float] | None) -> str:
    if mean is None:
        return "–"
    return f"{mean:.6g}" + (f" ({interval[0]:.6g} to {interval[1]:.6g})" if interval else "")


def _gain(gain: float | None, interval: tuple[float, float] | None, verdict: str) -> str:
    if gain is None:
        return "–"
    ends = f" ({interval[0]:+.4g} to {interval[1]:+.4g})" if interval else ""
    return f"{gain:+.4g}{ends}: {verdict}"


def _lead(row: SweepRow) -> str:
    found = _gain(row.lead, row.lead_interval, row.lead_verdict)
    return f"{found} (over {row.rival_name})" if row.rival_name else found
