"""How the best program came about: its ancestors, each with what it changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.state.node import Node
from reports.facts import RunFacts
from reports.highlight import language, program
from reports.markup import EMPTY, Content, Markup, clip, figure, join, tag
from utils.counts import counted
from utils.line_diff import line_diff

MOST_SHOWN = 40
"""Ancestors shown: the first and the newest of a longer line."""
LONGEST_LINE = 500
"""Characters of a line that are shown."""


def descent(facts: RunFacts) -> Markup:
    """One fold a program from the first ancestor to the best, newest open."""
    line = facts.line
    if not line:
        return EMPTY
    shown = list(enumerate(line))
    left_out = EMPTY
    if len(shown) > MOST_SHOWN:
        left_out = tag(
            "p",
            f"{counted(len(shown) - MOST_SHOWN, 'program between is', 'programs between are')} not shown.",
            class_="quiet",
        )
        shown = [shown[0], *shown[-(MOST_SHOWN - 1) :]]
    folds = []
    for position, (number, node) in enumerate(shown):
        if position == 1:
            folds.append(left_out)
        parent = line[number - 1] if number else None
        is_open = position == len(shown) - 1 and number > 0
        folds.append(_fold(node, parent, facts.named(node.id, node.operator), language(facts), is_open=is_open))
    return join(folds)


def _fold(node: Node, parent: Node | None, name: str, shown_as: str, *, is_open: bool) -> Markup:
    head: list[Content] = [
        tag("b", name),
        f" {node.id} → {figure(node.metric_value, 'no metric')}",
        f" · {node.writer}" if node.writer and not node.is_own else "",
    ]
    if parent is not None and parent.metric_value is not None and node.metric_value is not None:
        head.append(f" ({node.metric_value - parent.metric_value:+.4g})")
    others = node.parent_ids[1:]
    body = [
        tag("p", clip(node.plan), class_="plan") if node.plan and not node.is_own else EMPTY,
        tag("p", f"also from {', '.join(others)}", class_="quiet") if others else EMPTY,
        diff(parent.code, node.code) if parent is not None else program(node.code, shown_as),
    ]
    return tag("details", tag("summary", *head), *body, open="" if is_open else None)


def diff(before: str, after: str) -> Markup:
    """Unified diff with three lines of context; long programs are compared by their beginnings."""
    found = line_diff(before, after)
    lines = list(_marked(found.lines[2:]))
    note = tag("p", found.note, class_="quiet") if found.note else EMPTY
    if not lines:
        return join([tag("p", "The text is the same.", class_="quiet"), note])
    return join([tag("pre", *lines, class_="diff", tabindex="0"), note])


def _marked(lines: Sequence[str]) -> Iterator[Markup]:
    for line in lines:
        kind = {"+": "added", "-": "removed", "@": "place"}.get(line[:1])
        yield tag("span", clip(line, LONGEST_LINE) + "\n", class_=kind)
