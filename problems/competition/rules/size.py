"""What a large table asks of a program: the memory that its rows take, and how they are read."""

from __future__ import annotations

from problems.competition.rules.drawn_rows import with_rare
from problems.competition.rules.facts import Facts
from problems.competition.rules.families import FAMILIES
from problems.competition.rules.recipe import Recipe
from problems.competition.rules.side_tables import SideTable

NARROW, CELLS = 500_000, 20_000_000
"""Training rows, or cells of them, from which only what is needed is read, numbers in half their size."""
PIECE, PIECE_CELLS = 500_000, 10_000_000
"""Rows of such a table that are read at once, where some are learned, and cells of them."""
LIBRARIES = 250.0
"""Megabytes of a program before it reads anything."""
CELL, ROW, FLAG = 34, 90, 12
"""Bytes that a cell takes, a row beside them, and a cell of the wide table of a linear model: copies, and what models
make of them."""
USED = 0.85
"""Part of the memory that is meant to be filled."""


def is_large(facts: Facts) -> bool:
    return facts.rows >= NARROW or facts.rows * (facts.width - facts.files.looks) >= CELLS


def most_rows(recipe: Recipe, facts: Facts) -> int:
    """Rows that the recipe can learn in the memory of a program."""
    facts = facts.joining(recipe.tables)
    wide = any(FAMILIES[member.family].wants not in ("trees", "words") for member in recipe.members)
    each = CELL * (facts.width + facts.alike) + ROW + (FLAG * (len(facts.numbers) + facts.flags) if wide else 0)
    asked = CELL * (facts.width + facts.alike) * facts.asked
    room = (USED * facts.memory_mb - LIBRARIES) * 2**20 - asked
    return max(1000, int(room / each) // 1000 * 1000)


def fits(recipe: Recipe, facts: Facts) -> bool:
    """True if the rows that are learned have room in memory."""
    return (recipe.rows or facts.rows) <= most_rows(recipe, facts)


def read(recipe: Recipe, facts: Facts) -> list[str]:
    """Lines that leave `train` and `test`."""
    if not is_large(facts):
        sampled = []
        if recipe.rows:
            draw = f"train.sample(min({recipe.rows}, len(train)), random_state=0)"
            some = with_rare(draw, "train", facts, recipe.rows)
            sampled = [f"train = {some}", *(_ONCE if some != draw else [])]
        asked = f'pd.read_csv("input/{facts.asks}")' + ("" if facts.asks == "test.csv" else "[[ID]]")
        return [f'train, test = pd.read_csv("input/{facts.table}"), {asked}', *sampled]
    key = "ID, " if facts.ids == "test.csv" else ""
    named = "ID, " if any(facts.key == mine for side in _sides(recipe, facts) for mine, *_ in side.by) else ""
    there = [name for name in facts.columns if name not in facts.files.texts]
    narrow = [name for name in there if name in facts.narrow]
    lines = [
        f"NARROW = dict.fromkeys({narrow!r}, 'float32')",
        f"COLUMNS = [*NARROW, *{[name for name in there if name not in facts.narrow]!r}]",
        f'test = pd.read_csv("input/test.csv", usecols=[{key}*COLUMNS], dtype=NARROW)',
        f'how = {{"usecols": [{named}{_targets(facts)}, *COLUMNS], "dtype": NARROW}}',
    ]
    if not recipe.rows:
        return [*lines, f'train = pd.read_csv("input/{facts.table}", **how)']
    draw = f"piece.sample(frac={recipe.rows / facts.rows:.4g}, random_state=0)"
    some = with_rare(draw, "piece", facts, recipe.rows)
    rows = min(PIECE, PIECE_CELLS // max(1, facts.width))
    return [
        *lines,
        f'pieces = pd.read_csv("input/{facts.table}", chunksize={rows}, **how)',
        f"few = [{some} for piece in pieces]",
        "train = pd.concat(few)  # a part of all rows",
        *(_ONCE if some != draw else []),
    ]


def _sides(recipe: Recipe, facts: Facts) -> list[SideTable]:
    return [side for side in facts.sides if side.file in recipe.tables]


_ONCE = ["train = train[~train.index.duplicated()]  # a few rows of each class among them"]


def _targets(facts: Facts) -> str:
    return "TARGET" if len(facts.targets) == 1 else "*TARGETS"
