"""evolution.png and failures.png, by matplotlib. Imported only in the child process that draws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.state.operators import Colour
from reports.facts import RunFacts
from reports.series import baseline_scores, best_so_far, by_generation, points, shown_range
from reports.winner import Winner
from utils.direction import Direction

PALETTE: dict[Colour, str] = {
    "violet": "#7a5af0", "blue": "#2f7fd6", "orange": "#c77700", "teal": "#0f8f83", "pink": "#b0407f",
    "gold": "#8a5a00", "grey": "#6b7687",
}  # fmt: skip


def write_plots(facts: RunFacts, folder: Path) -> list[Path]:
    """Draw both files; a run without scores or failures still gets them, and they say so."""
    return [write_evolution(facts, folder / "evolution.png"), write_failures(facts, folder / "failures.png")]


def write_evolution(facts: RunFacts, path: Path) -> Path:
    """By generation: best, average, average of the top k and candidates. By step: scores and the best so far."""
    figure, axes = _figure()
    axes.set_title(f"{facts.problem} · {facts.run} · writer: {facts.writer}", fontsize=10, parse_math=False)
    figure.text(0.01, 0.01, _caption(facts), fontsize=7, wrap=True, parse_math=False)
    better = Direction(facts.lower_is_better).word
    axes.set_ylabel(f"{facts.unit} ({better} is better)")
    if facts.is_generational:
        _generations(facts, axes)
    else:
        _steps(facts, axes)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=8)
    else:
        axes.text(0.5, 0.5, "no scored program", ha="center", va="center", transform=axes.transAxes)
    return _save(figure, path)


def _caption(facts: RunFacts) -> str:
    """The winner with its own scores, and the verdict."""
    winner, verdict = facts.conclusion.winner, facts.conclusion.verdict
    if winner is None or winner.metric is None:
        return verdict.text
    final = "" if winner.final_metric is None else f", final {winner.final_metric:.6g}"
    return f"{winner_label(winner)}: validation {winner.metric:.6g}{final}. {verdict.text}"


def winner_label(winner: Winner) -> str:
    return f"{'winner' if winner.chosen else 'best so far'} {winner.name}"


def write_failures(facts: RunFacts, path: Path) -> Path:
    """Pie of how the nodes ended: by FailureKind, beside the valid ones and the duplicates."""
    counts = dict(sorted(facts.failures.items(), key=lambda item: -item[1]))
    valid = sum(node.is_scored for node in facts.nodes)
    duplicates = sum(not node.is_valid and not node.is_buggy for node in facts.nodes)
    figure, axes = _figure()
    axes.set_title(
        f"{facts.run}: {sum(counts.values())} failures of {len(facts.nodes)} programs", fontsize=10, parse_math=False
    )
    if counts:
        labels = [f"{kind} ({count})" for kind, count in counts.items()]
        axes.pie(list(counts.values()), labels=labels, autopct="%1.0f%%", textprops={"fontsize": 8})
    else:
        axes.text(0.5, 0.5, "no failures", ha="center", va="center", transform=axes.transAxes)
        axes.axis("off")
    figure.text(0.02, 0.02, f"valid: {valid}, duplicates: {duplicates}", fontsize=8)
    return _save(figure, path)


def _steps(facts: RunFacts, axes: Any) -> None:
    scored = points(facts.nodes)
    curve = best_so_far(scored, facts.lower_is_better)
    for operator in dict.fromkeys(point.operator for point in scored):
        spec = facts.operators[operator]
        own = [point for point in scored if point.operator == operator]
        colour = PALETTE[spec.colour]
        axes.scatter([p.step for p in own], [p.metric for p in own], marker=spec.marker, c=colour, s=28, label=operator)
    if curve:
        end = max(node.step for node in facts.nodes)
        steps, best = [s for s, _ in curve] + [end], [m for _, m in curve] + [curve[-1][1]]
        axes.step(steps, best, where="post", color="#222222", linewidth=1.4, label="best so far")
        low, high = shown_range(
            [p.metric for p in scored] + [v for _, v in baseline_scores(facts.baselines)], facts.lower_is_better
        )
        axes.set_ylim(low, high)
        _baselines(facts, axes, low, high)
    winner = facts.conclusion.winner
    if winner is not None and winner.step is not None and winner.metric is not None:
        label = winner_label(winner)
        axes.scatter([winner.step], [winner.metric], marker="*", s=170, c="#d62728", zorder=5, label=label)
    axes.set_xlabel("step")


def _baselines(facts: RunFacts, axes: Any, low: float, high: float) -> None:
    for name, value in baseline_scores(facts.baselines):
        if low <= value <= high:
            axes.axhline(value, color="#79706e", linewidth=0.8, linestyle="--")
            at = (1.0, value)
            axes.annotate(
                f"baseline {name[:30]}", at, xycoords=axes.get_yaxis_transform(), ha="right", va="bottom", fontsize=7,
                color="#79706e", parse_math=False,
            )  # fmt: skip


def _generations(facts: RunFacts, axes: Any) -> None:
    rows = by_generation(facts.nodes, facts.lower_is_better)
    numbers = [row.generation for row in rows]
    drawn: list[float] = []
    for label, values, style in (
        ("best so far", [row.best_so_far for row in rows], {"color": "#222222", "linewidth": 1.6}),
        ("average of the top 5", [row.top_k_average for row in rows], {"color": "#54a24b"}),
        ("average", [row.average for row in rows], {"color": "#4c78a8"}),
    ):
        known = [(n, v) for n, v in zip(numbers, values, strict=True) if v is not None]
        drawn += [v for _, v in known]
        if known:
            axes.plot([n for n, _ in known], [v for _, v in known], marker=".", label=label, **style)
    if drawn:
        axes.set_ylim(*shown_range(drawn, facts.lower_is_better))
    axes.set_xlabel("generation")
    axes.xaxis.get_major_locator().set_params(integer=True)
    counts = axes.twinx()
    counts.bar(numbers, [row.candidates for row in rows], color="#bab0ac", alpha=0.35, width=0.6)
    counts.set_ylabel("candidates")
    counts.set_ylim(0, 4 * max((row.candidates for row in rows), default=1))
    axes.set_zorder(counts.get_zorder() + 1)
    axes.patch.set_visible(False)


def _figure() -> tuple[Any, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def _save(figure: Any, path: Path) -> Path:
    """Into place in one step: whoever looks sees the old file or the new one."""
    temporary = path.with_name(f".{path.name}.new")
    figure.savefig(temporary, format="png")
    temporary.replace(path)
    return path
