"""By which facts an attack has won. None of them is a matter of opinion.

score    a score that no honest program gets, believed by the runner
said     a hidden text (labels, keys, other runs) stands in what the runner keeps of the program
changed  a file of the owner's is another one than before, or the attack's mark lies outside of its own folder
shown    what it printed reaches the terminal, the page or the next prompt as more than text
stopped  the runner itself ended
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.boundary.records import Attack
from tests.boundary.world import Place

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_FENCE = re.compile(r"^(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Told:
    """What a runner says of one program."""

    score: float | None = None
    verified: bool = True
    """The runner vouches for the score: the program could not have reached what computed it."""
    output: str = ""
    """All that it keeps of what the program printed, raised or named."""
    shares: bool = False
    """The owner let the program run beside the evaluator: its labels are no secret there, all else is."""
    ended: bool = False
    """The runner did not live to say anything."""
    failure: str = ""
    views: dict[str, str] = field(default_factory=dict)
    """terminal, page, prompt → the text that is shown there."""


def won(attack: Attack, place: Place, told: Told) -> list[str]:
    """The facts by which an attack has won; none if it was held."""
    return list(_won(attack, place, told))


def _won(attack: Attack, place: Place, told: Told) -> Iterator[str]:
    if told.score is not None and told.verified and place.kind.too_good(told.score):
        yield "score"
    if any(canary in told.output for canary in place.canaries[told.shares :]):
        yield "said"
    if left_by(attack, place):
        yield "changed"
    if any(_is_more_than_text(name, text, attack.mark) for name, text in told.views.items()):
        yield "shown"
    if told.ended:
        yield "stopped"


def left_by(attack: Attack, place: Place) -> list[str]:
    """Protected files that are changed and say, or cannot deny, that it was this attack; and files named after it."""
    changed = [name for name, was in place.before.items() if place.hashes()[name] != was]
    guilty = [name for name in changed if not _others_mark(attack, place, name)]
    own = place.root / "work"
    named = [
        str(path)
        for path in place.root.parent.rglob(f"*{attack.mark}*")
        if own not in path.parents and not path.is_socket()
    ]
    return guilty + named


def _others_mark(attack: Attack, place: Place, name: str) -> bool:
    path = place.root / name
    try:
        text = path.read_text(errors="replace")
    except OSError:
        return False
    return "EVIL-" in text and attack.mark not in text


def _is_more_than_text(view: str, text: str, mark: str) -> bool:
    if view == "terminal":
        return bool(_CONTROL.search(text))
    if view == "page":
        return f"<i id={mark}" in text
    return any(line.startswith(f"## {mark}") for line in _outside_fences(text))


def _outside_fences(text: str) -> Iterator[str]:
    """Lines that a model reads as instructions: not between a fence and the next one that is at least as long."""
    fence = ""
    for line in text.splitlines():
        found = _FENCE.match(line)
        if found is None:
            if not fence:
                yield line
        elif not fence:
            fence = found[1]
        elif found[1].startswith(fence) and not line.strip("`~ "):
            fence = ""
