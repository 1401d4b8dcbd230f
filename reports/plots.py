"""evolution.png and failures.png, by matplotlib. Imported only in the child process that draws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reports.evolution import draw_evolution
from reports.facts import RunFacts
from utils.counts import counted
from utils.file_utils import staged


def write_plots(facts: RunFacts, folder: Path) -> list[Path]:
    """Draw both files; a run without scores or failures still gets them, and they say so."""
    return [write_evolution(facts, folder / "evolution.png"), write_failures(facts, folder / "failures.png")]


def write_evolution(facts: RunFacts, path: Path) -> Path:
    """How the search went; see `reports.evolution`."""
    figure, axes = _figure()
    draw_evolution(facts, figure, axes)
    return _save(figure, path)


def write_failures(facts: RunFacts, path: Path) -> Path:
    """Pie of how the nodes ended: by FailureKind, beside the valid ones and the duplicates."""
    counts = dict(sorted(facts.failures.items(), key=lambda item: -item[1]))
    valid = sum(node.is_scored for node in facts.nodes)
    duplicates = sum(node.duplicate_of is not None for node in facts.nodes)
    figure, axes = _figure()
    axes.set_title(
        f"{facts.run}: {counted(sum(counts.values()), 'failure')} of {counted(len(facts.nodes), 'program')}",
        fontsize=10,
        parse_math=False,
    )
    if counts:
        labels = [f"{kind} ({count})" for kind, count in counts.items()]
        axes.pie(list(counts.values()), labels=labels, autopct="%1.0f%%", textprops={"fontsize": 8})
    else:
        axes.text(0.5, 0.5, "no failures", ha="center", va="center", transform=axes.transAxes)
        axes.axis("off")
    figure.text(0.02, 0.02, f"valid: {valid}, duplicates: {duplicates}", fontsize=8)
    return _save(figure, path)


def _figure() -> tuple[Any, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def _save(figure: Any, path: Path) -> Path:
    """Into place in one step: whoever looks sees the old file or the new one."""
    with staged(path) as new:
        figure.savefig(new, format="png")
    return path
