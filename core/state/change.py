"""The change of a score from a parent's to its child's: better, worse, or no more than rounding or noise can make."""

from __future__ import annotations

from math import hypot, isclose

from core.state.node import Node
from core.state.noise import error_of, noise_in
from utils.counts import counted
from utils.direction import ROUNDING, Direction
from utils.number_text import short_number
from utils.stats import paired_error, standard_error

_SAME_UNIT = 0.1
"""Cases whose mean is this near to the metric are told in its unit: then their spread is the metric's noise."""
_SAME_SCALE, _MANY = 2.0, 5
"""So are so many cases whose mean is within this factor: a metric that is no mean (average precision, F1) comes to
another number on a part of the rows, and varies from part to part as it does from one sample of rows to the next."""
CLEAR = 2.0
"""Standard errors by which two scores must differ for one of them to be called better."""


def change_of(node: Node, parent: Node, direction: Direction, deviation: float | None = None) -> str:
    """`0.03 worse, noise 0.006`: the score against the parent's; '' where one of them has none.

    What rounding or noise can make is not called better or worse. Of two that were measured by turns that says which is
    better, whatever the machine did while each had its score.

    Args:
        deviation: of one score, for two that were both taken once; None: nothing is known of it.
    """
    if node.metric_value is None or parent.metric_value is None:
        return ""
    if node.parent_id == parent.id and (told := against_parent(node)):
        return told
    gap = abs(node.metric_value - parent.metric_value)
    if is_rounding(node.metric_value, parent.metric_value):
        return "no change" if gap == 0 else "no change beyond rounding"
    word = "better" if direction.better(node.metric_value, parent.metric_value) else "worse"
    noise = _noise_of_change(node, parent, deviation)
    if noise and gap < CLEAR * noise:
        return f"no clear change: {short_number(gap, 3)} {word}, noise {short_number(noise, 2)}"
    told = f"noise {short_number(noise, 2)}" if noise else _cases_of(node, parent, direction)
    return f"{short_number(gap, 3)} {word}{f', {told}' if told else ''}"


def against_parent(node: Node) -> str:
    """`8 % better (6 to 10 %), measured by turns`; '' where the two were not."""
    if node.beside_parent is None:
        return ""
    ratio, low, high = node.beside_parent
    if low <= 1.0 <= high:
        ends = f"{100 * (low - 1):+.2g} to {100 * (high - 1):+.2g} %"
        return f"no clear change: {ends}, measured by turns"
    word = "better" if Direction(node.lower_is_better).better(ratio, 1.0) else "worse"
    least, most = sorted(100 * abs(end - 1) for end in (low, high))
    return f"{100 * abs(ratio - 1):.2g} % {word} ({least:.2g} to {most:.2g} %), measured by turns"


def _noise_of_change(node: Node, parent: Node, deviation: float | None) -> float | None:
    """Standard error of the change: by cases that both have, else by the intervals of scores that were measured
    several times; one that was measured once counts as noisy as the other. None where nothing is known of it."""
    if in_unit(node) and in_unit(parent):
        return paired_error(parent.signature, node.signature)
    known = [error for one in (parent, node) if (error := error_of(one)) is not None]
    known = known or ([deviation] if deviation else [])
    return hypot(known[0], known[-1]) if known else None


def _cases_of(node: Node, parent: Node, direction: Direction) -> str:
    """`2 of 10 cases better, 1 worse`: what says how sure a change is where the cases have a unit of their own."""
    if not node.signature or len(node.signature) != len(parent.signature):
        return ""
    changed = [pair for pair in zip(node.signature, parent.signature, strict=True) if not is_rounding(*pair)]
    better = sum(direction.better(own, before) for own, before in changed)
    return f"{better} of {counted(len(node.signature), 'case')} better, {len(changed) - better} worse"


def is_rounding(one: float, other: float) -> bool:
    """True if two programs' scores differ by no more than floating point can make them: a sum in another order."""
    return isclose(one, other, rel_tol=ROUNDING)


def noise_of(node: Node, deviation: float | None = None) -> float | None:
    """Standard error of the node's score over its cases or its measurements, in the metric's unit; None where that is
    not known. `deviation`: as for `change_of`."""
    return standard_error(node.signature) if in_unit(node) else noise_in(node, deviation)


def in_unit(node: Node) -> bool:
    """True if the cases' scores are told in the metric's unit: their mean is near to it, or many are on its scale."""
    if node.metric_value is None or len(node.signature) < 2:
        return False
    mean = sum(node.signature) / len(node.signature)
    if len(node.signature) >= _MANY and mean * node.metric_value > 0:
        return 1 / _SAME_SCALE <= mean / node.metric_value <= _SAME_SCALE
    return abs(mean - node.metric_value) <= _SAME_UNIT * abs(node.metric_value)
