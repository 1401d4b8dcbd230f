"""All attacks on all the kinds they fit, against a runner and against the control; what came of it as rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby, product

from tests.boundary import against, ours
from tests.boundary.records import Attack, attacks


@dataclass(frozen=True, slots=True)
class Row:
    """One attack on one kind of problem."""

    attack: Attack
    kind: str
    way: str
    """How program and evaluator were kept apart; '' where the kind has one way."""
    won: list[str]
    """The facts by which it won against the runner that is tried; empty: it was held."""
    control: list[str]
    """The facts by which it won against the control."""
    tier: str = "auto"
    """`execution.sandbox`."""

    @property
    def name(self) -> str:
        """`family/attack`."""
        return f"{self.attack.family}/{self.attack.name}"

    @property
    def held(self) -> bool:
        return not self.won

    @property
    def is_attack(self) -> bool:
        """It wins, as it says it does, where nothing stands between it and its target."""
        return bool(set(self.control) & set(self.attack.wins))


def chosen(kinds: Sequence[str] = (), names: Sequence[str] = (), sample: int = 0) -> list[tuple[Attack, str]]:
    """(attack, kind) of all attacks, or of some.

    Args:
        kinds: only these.
        names: only attacks or families of these names.
        sample: the first so many of each family and kind; 0 takes all.
    """
    pairs = [
        (attack, kind)
        for attack in attacks()
        for kind in attack.kinds
        if (not kinds or kind in kinds) and (not names or attack.name in names or attack.family in names)
    ]
    if not sample:
        return pairs
    pairs.sort(key=lambda pair: (pair[0].family, pair[1], pair[0].name))
    groups = groupby(pairs, key=lambda pair: (pair[0].family, pair[1]))
    return [pair for _, group in groups for pair in list(group)[:sample]]


TRIES = 3
"""How often an attack may try to win against the naive runner: those on clocks and threads need a machine with time."""


def controls(pairs: Sequence[tuple[Attack, str]]) -> dict[tuple[str, str], list[str]]:
    """(attack, kind) → by which facts it wins against the naive runner."""
    found = _against(against.NAIVE, pairs)
    for _ in range(TRIES - 1):
        lost = [(attack, kind) for attack, kind in pairs if not set(found[attack.name, kind]) & set(attack.wins)]
        found |= _against(against.NAIVE, lost)
    return found


def against_us(
    pairs: Sequence[tuple[Attack, str]],
    ways: Sequence[str] = (),
    tiers: Sequence[str] = ("auto",),
    control: Mapping[tuple[str, str], list[str]] | None = None,
) -> Iterator[Row]:
    """Rows as they are known, tier by tier and kind by kind.

    Args:
        ways: only these of a kind that has several; its first where it has none of them.
        tiers: values of `execution.sandbox`.
        control: what `controls` found of these pairs, where that is known already: no way and no tier changes it.
    """
    control = controls(pairs) if control is None else control
    for tier, kind in product(tiers, dict.fromkeys(kind for _, kind in pairs)):
        of_kind = [attack for attack, other in pairs if other == kind]
        known = ours.ways(kind)
        for way in [way for way in known if way in ways] or (known[:1] if ways else known):
            found = ours.attacked(kind, way, of_kind, tier)
            for attack in of_kind:
                yield Row(attack, kind, way, found[attack.name], control[attack.name, kind], tier)


def against_command(command: Sequence[str], pairs: Sequence[tuple[Attack, str]]) -> Iterator[Row]:
    """The same against another framework's runner; see README.md for what it has to do."""
    control, found = controls(pairs), _against(command, pairs)
    for attack, kind in pairs:
        yield Row(attack, kind, "", found[attack.name, kind], control[attack.name, kind])


def _against(command: Sequence[str], pairs: Sequence[tuple[Attack, str]]) -> dict[tuple[str, str], list[str]]:
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda pair: against.attacked(command, pair[1], pair[0]), pairs)
        return {(attack.name, kind): facts for (attack, kind), facts in zip(pairs, found, strict=True)}


def summary(rows: Sequence[Row]) -> str:
    """`n of n held, n of n controls won`."""
    held, won = sum(row.held for row in rows), sum(row.is_attack for row in rows)
    kinds = ", ".join(f"{kind} {len(list(group))}" for kind, group in groupby(sorted(rows, key=_kind_of), key=_kind_of))
    return f"{held} of {len(rows)} held, {won} of {len(rows)} controls won ({kinds})"


def _kind_of(row: Row) -> str:
    return f"{row.kind}/{row.way}" if row.way else row.kind
