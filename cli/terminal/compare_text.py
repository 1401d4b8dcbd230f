"""`compare` for people: a column a run, in the words and numbers of the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.text import Text

from cli.terminal.console import VisibleConsole
from utils.counts import counted, dollars, duration, score
from utils.direction import Direction

OUTCOME: dict[str, Callable[[dict[str, Any]], str]] = {
    "title": lambda run: run["title"],
    "problem": lambda run: run["problem"],
    "metric": lambda run: f"{run['unit'] or 'metric'}, {Direction(run['lower_is_better']).word} is better",
    "status": lambda run: run["status"],
    "best": lambda run: f"{score(run['best_metric'])} {run['best_is']}".rstrip(),
    "final": lambda run: score(run["final_metric"]),
    "95 %": lambda run: " … ".join(map(score, run["final_interval"] or ())),
    "verdict": lambda run: run["verdict_words"],
    "gain": lambda run: "" if run["gain"] is None else f"{run['gain']:+.3g}",
    "against": lambda run: run["against"] or "",
    "writer": lambda run: run["writer"],
    "policy": lambda run: run["policy"],
    "seed": lambda run: "" if run["seed"] is None else str(run["seed"]),
    "steps": lambda run: str(run["steps"]),
    "budget": lambda run: run["limits"],
    "search time": lambda run: duration(run["seconds"]),
    "cost": lambda run: dollars(run["cost_usd"]),
    "tags": lambda run: " ".join(run["tags"]),
}
"""`best` is on validation, `gain` is over `against` on the final part, in the metric's unit."""


def print_comparison(told: dict[str, Any]) -> None:
    console, runs, settings = VisibleConsole(), told["runs"], told["settings"]
    problems = list(dict.fromkeys(run["problem"] for run in runs))
    if len(problems) > 1:
        which = ", ".join(problems)
        console.print(Text(f"These runs search different problems ({which}): their values do not compare."))
    names = [run["run"] for run in runs]
    rows = [[what, *(cell(run) for run in runs)] for what, cell in OUTCOME.items()]
    console.table(("", *names), [row for row in rows if any(row[1:])])
    differences = [[key, *map(_value, values)] for key, values in settings.items()]
    if differences:
        console.table(("", *names), differences, f"configuration: {counted(len(differences), 'difference')}")
    else:
        console.print(Text("The configurations are the same."))


def _value(value: Any) -> str:
    """As the page writes what JSON holds: `true`, and `5` for 5.0."""
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "–" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
