"""What a program scored on each case, where its problem lets prompts tell it: where it gained, and where it loses."""

from __future__ import annotations

from collections.abc import Sequence

from core.contracts import AgentContext
from core.state.change import is_rounding
from core.state.node import Node
from utils.counts import counted
from utils.direction import Direction
from utils.number_text import told_apart

SHOWN = 20
"""Cases that a prompt names; of more the worst."""
NAME = 60
"""Characters of a case's name."""


def case_scores(node: Node, above: Node | None, context: AgentContext) -> tuple[str, str]:
    """(what the lines tell, a line a case with its score and in brackets that of the parent `above`, where it is
    another); ('', '') where nothing may be told.

    `context.extras["cases"]` of a problem says that it may: `unit` of a case's score, and `names` of the first cases.
    """
    told = context.extras.get("cases")
    if not told or len(node.signature) < 2:
        return "", ""
    before = above.signature if above and len(above.signature) == len(node.signature) else ()
    places = shown(node.signature, Direction(context.lower_is_better))
    of = f"the worst {SHOWN} of " if len(places) < len(node.signature) else ""
    title = f"Its {told['unit']} on {of}{counted(len(node.signature), 'case')}"
    lines = [_line(place, node.signature, before, told["names"]) for place in places]
    return title + (beside(above) if above and before else ""), "\n".join(lines)


def beside(above: Node) -> str:
    """What the brackets behind a node's numbers hold."""
    return f"; in brackets its parent [{above.step}], where it differs"


def shown(scores: Sequence[float], direction: Direction) -> list[int]:
    """Places of the cases that are told: all in their order, or the worst, the worst first."""
    if len(scores) <= SHOWN:
        return list(range(len(scores)))
    return sorted(range(len(scores)), key=lambda place: direction.turned(scores[place]))[:SHOWN]


def case_name(place: int, names: Sequence[str]) -> str:
    """What a case is called, the first is 0."""
    name = " ".join(names[place].split())[:NAME] if place < len(names) else ""
    return name or f"case {place + 1}"


def _line(place: int, scores: Sequence[float], before: Sequence[float], names: Sequence[str]) -> str:
    now, then = scores[place], before[place] if before else None
    if then is None or is_rounding(now, then):
        return f"{case_name(place, names)}: {now:.7g}"
    return f"{case_name(place, names)}: {told_apart(now, then)} ({told_apart(then, now)})"
