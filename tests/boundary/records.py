"""What an attack is, and where the attacks lie."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "attacks"
FACTS = ("score", "said", "changed", "shown", "stopped")
"""How an attack can win; see `facts.py`."""


@dataclass(frozen=True, slots=True)
class Attack:
    """One way of getting a score, or a secret, that no honest program gets."""

    name: str
    family: str
    """The folder it lies in."""
    tries: str
    """What it tries, in one line."""
    kinds: tuple[str, ...]
    """The problem kinds that it fits."""
    wins: tuple[str, ...]
    """The facts by which it wins where nothing stands between it and its target: any of these."""
    text: str
    """Its program, with the names of `world.Place.names` between at-signs."""

    @property
    def mark(self) -> str:
        """A text that only this attack leaves anywhere."""
        return f"EVIL-{self.name.replace('_', '-')}-"


def read(path: Path) -> Attack:
    """An attack's file: a line that says what it tries, `# KINDS: …`, `# WINS: …`, then the program.

    Raises:
        ValueError: it is not in that form.
    """
    text = path.read_text(encoding="utf-8")
    head = re.match(r"# (?P<tries>.+)\n# KINDS: (?P<kinds>.+)\n# WINS: (?P<wins>.+)\n", text)
    if head is None:
        raise ValueError(f"{path}: begins with '# what it tries', '# KINDS: …', '# WINS: …'")
    wins = tuple(head["wins"].split())
    if unknown := set(wins) - set(FACTS):
        raise ValueError(f"{path}: {', '.join(sorted(unknown))}: allowed after WINS are {', '.join(FACTS)}")
    body = text[head.end() :]
    return Attack(path.stem, path.parent.name, head["tries"], tuple(head["kinds"].split()), wins, body)


def attacks() -> list[Attack]:
    """All of them, by family and name."""
    return [read(path) for path in sorted(FOLDER.glob("*/*.py"))]
