"""What a notebook shows: the progress of a run in its cell, and a result as HTML. Texts of programs are escaped."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

REDRAW_SECONDS = 0.5


def in_notebook() -> bool:
    """True inside of a Jupyter kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and getattr(shell, "kernel", None) is not None


class Cell:
    """Progress in the cell's output: steps, best so far, time left, what goes on besides. Redrawn in place."""

    def __init__(self) -> None:
        self._opened: Mapping[str, Any] = {}
        self._steps = 0
        self._best = "best –"
        self._doing = ""
        self._began = self._drawn = time.monotonic()
        self._handle: Any = None

    def learn(self, line: Mapping[str, Any]) -> None:
        """Take in what the run told."""
        if line["type"] == "run.opened":
            self._opened, self._steps, self._doing = line, line["steps"], ""
        elif line["type"] == "node.committed":
            self._steps = line["step"] or self._steps  # an ensemble, a baseline is none
        elif line["type"] == "run.best":
            self._best = line["text"]
        elif line["type"] == "run.doing":
            self._doing = line["text"]
        self.draw()

    def draw(self) -> None:
        if time.monotonic() - self._drawn >= REDRAW_SECONDS:
            self._drawn = time.monotonic()
            self._show(self.html())

    def close(self, text: str) -> None:
        """The run has ended: what it came to, or why it failed, stands in place of the bar."""
        self._show(f"<div>{escape(text)}</div>")

    def give_way(self) -> None:
        """The result itself is shown somewhere, with what was said at the close: here stands how far the run came."""
        noun = "step" if self._steps == 1 else "steps"
        self._show(f"<div>{escape(self._opened.get('run', ''))}: {self._steps} {noun}</div>")

    def html(self) -> str:
        limit, opened = self._opened.get("max_steps"), self._opened
        if not opened:
            return f"<div>{escape(self._doing or 'the search starts')} …</div>"
        share = 100 * min(1.0, self._steps / limit) if limit else 0
        noun = "step" if (limit or self._steps) == 1 else "steps"
        steps = f"{self._steps} of {limit} {noun}" if limit else f"{self._steps} {noun}"
        parts = [steps, f"{self._best} ({opened['unit']})", *([self._doing] if self._doing else self._left(limit))]
        bar = f'<progress max="100" value="{share:.0f}" style="width:100%"></progress>' if limit else ""
        return f"<div>{bar}<div>{escape(' · '.join(parts))}</div></div>"

    def _left(self, limit: int | None) -> list[str]:
        """By the pace so far, and never more than the budget has."""
        spent = time.monotonic() - self._began
        fresh = self._steps - self._opened["steps"]
        left = [spent / fresh * (limit - self._steps)] if limit and fresh > 0 else []
        left += [max(0.0, self._opened["seconds"] - spent)] if self._opened["seconds"] and (fresh or not limit) else []
        if not left:
            return []
        return [f"about {min(left):.0f} s left" if min(left) < 120 else f"about {min(left) / 60:.0f} min left"]

    def _show(self, html: str) -> None:
        shown = importlib.import_module("IPython.display")  # there is one: `in_notebook` has seen it
        if self._handle is None:
            self._handle = shown.display(shown.HTML(html), display_id=True)
        else:
            self._handle.update(shown.HTML(html))


PRE = '<pre style="font-family:monospace">'
"""A page made of a notebook (nbconvert) would set a program in the font of its text."""


def result_html(
    verdict: str, facts: Mapping[str, Any], code: str, scores: Sequence[tuple[int, float]], link: str
) -> str:
    """Verdict, curve, code and a link to the report."""
    unit, lower = str(facts.get("unit") or "score"), facts.get("direction") == "min"
    parts = [f"<p><b>{escape(verdict)}</b></p>"]
    parts += [f"<p>note: {escape(text)}</p>" for text in (facts.get("verdict") or {}).get("warnings", ())]
    parts.append(curve_svg(scores, lower, f"{unit}, {'lower' if lower else 'higher'} is better"))
    if code:
        parts.append(f"<details open><summary>the program</summary>{PRE}{escape(code)}</pre></details>")
    if link:
        parts.append(f'<p><a href="{escape(link, quote=True)}">report</a></p>')
    return f'<div class="swarm-evo">{"".join(parts)}</div>'


def curve_svg(scores: Sequence[tuple[int, float]], lower: bool, title: str) -> str:
    """(step, score) pairs as dots, and the best so far as a line; '' without any."""
    if not scores:
        return ""
    best, line = scores[0][1], []
    for step, score in scores:
        best = min(best, score) if lower else max(best, score)
        line.append((step, best))
    values = sorted(score for _, score in scores)
    low, high = values[0], values[-1]
    first, last = scores[0][0], scores[-1][0]

    def place(step: int, score: float) -> tuple[float, float]:
        across = (step - first) / ((last - first) or 1)
        up = (score - low) / ((high - low) or 1)
        return 10 + 580 * across, 150 - 130 * up

    dots = "".join('<circle cx="{:.1f}" cy="{:.1f}" r="3" fill="#7a5af0"/>'.format(*place(*pair)) for pair in scores)
    path = "{:.1f} {:.1f}".format(*place(*line[0]))
    for step, score in line[1:]:
        x, y = place(step, score)
        path += f"H{x:.1f}V{y:.1f}"
    return (
        f'<svg viewBox="0 0 600 170" width="600" role="img"><title>{escape(title)}</title>{dots}'
        f'<path d="M{path}" fill="none" stroke="currentColor" stroke-width="1.5"/>'
        '<text x="10" y="168" font-size="11" fill="currentColor">'
        f"{escape(title)}; best found: {line[-1][1]:.6g}</text></svg>"
    )
