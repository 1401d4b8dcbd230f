"""First recipes: one family with its features, or several weighed from the start; and what a recipe costs."""

from __future__ import annotations

import random
from dataclasses import replace

from problems.competition.rules import features
from problems.competition.rules.facts import Facts
from problems.competition.rules.families import FAMILIES, seconds_of, suited
from problems.competition.rules.family import Family
from problems.competition.rules.recipe import Member, Recipe

ORDER = ("words", "words_sgd", "words_ridge", "lgbm", "hgb", "elastic", "logistic", "gb", "svm", "extra", "xgb", "cat",
         "ridge", "bayes_words", "forest", "bayes", "kernel", "knn", "huber")  # fmt: skip
"""Drafts take families in this order, so that the first few are unlike each other."""
BESIDE = 2
"""The draft that is boosting once more, with other parameters: on most tables the best single model is one of both."""
PANEL = 3
"""The draft that is a blend from the start: by then the first few families stand alone."""
PANELLED = ("words", "words_sgd", "words_ridge", "lgbm", "hgb", "elastic", "logistic", "svm", "extra", "gb", "cat",
            "xgb", "knn")  # fmt: skip
"""Families that are asked into it, in this order."""
PANEL_TIME = 1.5
"""How many times the pace of a program it may take."""
PANEL_FITS = 9
"""Fits that it has time for at least: three each of three families."""
MAX_MEMBERS = 5
FIRST = Member("hgb", (("max_iter", 100), ("max_leaf_nodes", 15)))
"""The model that groups' effects are told beyond: fitted on three parts of the rows."""
NEAR_SECONDS = 0.0015
"""For 1,000 rows, a column of groups and a number, to find the nearest rows of each."""
ALONG_SECONDS = 0.008
"""For 1,000 rows and a column of groups, to find the rows before and after each by a few times."""
SIFTING = 5e-4
"""For a column that is joined to 1,000 rows, to know whether it tells something."""
TOPIC_SECONDS = 0.2
"""For a column of 1,000 texts, to become topics."""
DEAR = ("nearest", "effects", "along", "topics")
"""Steps that may take longer than the model behind them."""
SAMPLE_ROWS = 10_000
"""Rows that a sample has at least; of fewer than twice as many none is drawn."""
SAMPLE_COLUMNS = 50
"""Numbers that are left at least, where there is no time for all of them."""
TABLES = 0.8
"""How likely a draft joins a further table."""
AS_COUNTED = {"rmsle": "log1p", "rmse": "none", "mae": "none", "r2": "none"}
"""What the first draft learns: the target as the metric counts its errors."""
UNEVEN = ("balanced_accuracy", "f1", "f1_macro", "mcc")
"""Metrics that a rare class counts in for more than its share of the rows."""
SURE = ("logloss", "brier")
"""Metrics that count how sure a prediction is."""
BOLD = 1.4
"""The power to which a first program of AVERAGED models raises its probabilities."""
AVERAGED = ("extra", "forest", "svm", "knn")
"""Families whose probabilities are means of many: seldom as sure as they might be."""


def draft(facts: Facts, rng: random.Random, ordinal: int | None = None) -> tuple[Recipe, str]:
    """A first recipe of one family. `ordinal` counts the drafts of a run; None draws the family."""
    tables = _tables(facts, rng, ordinal)
    facts = facts.joining(tables)
    rows = sample_rows(facts)
    columns = sample_columns(facts, rows)
    seen = learned(facts, rows, columns)
    names = [name for name in ORDER if name in {family.name for family in suited(seen)}]
    if ordinal == PANEL and (panel := _panel(facts, rng, rows, columns, tables)):
        return panel
    boosted = next((name for name in names if FAMILIES[name].tree), None)
    if ordinal == BESIDE and boosted:
        names = [boosted]
    name = names[ordinal % len(names)] if ordinal is not None else rng.choice(names)
    family = FAMILIES[name]
    chosen = tuple(
        step for step in features.available(facts) if step == "along" or rng.random() < _chance(step, family, facts)
    )
    if ordinal == BESIDE:  # to be told from the first draft, which has them
        chosen = tuple(step for step in chosen if step not in ("effects", "along"))
    seen = replace(seen, more=added(chosen, facts))
    member = drawn_member(family, seen, rng)
    if ordinal is not None and family.tree:
        member = family.default(seen, int(ordinal == BESIDE))
    encode = _encode(family, rng) if ordinal is None or not family.tree else _drafted(ordinal, facts)
    target = _target(facts, rng)
    if ordinal == 0 and facts.metric in AS_COUNTED and not facts.classifies:
        target = AS_COUNTED[facts.metric] if facts.positive_target else "none"
    power = BOLD if family.name in AVERAGED and counts_sureness(facts) else 1.0
    recipe = Recipe(
        target,
        chosen,
        encode,
        (member,),
        rows=rows,
        columns=columns,
        rare=_rare(facts, rng),
        power=power,
        tables=tables,
    )
    recipe = within(recipe, facts, facts.pace)
    chosen = recipe.features
    said = ", ".join(features.about(step) for step in chosen) or "the columns as they are"
    said += "".join(f", {side.about}" for side in facts.sides if side.file in tables)
    return recipe, f"Train {family.about} on {said}{_target_words(recipe)}."


def sample_rows(facts: Facts) -> int:
    """Rows that drafts learn first, where boosting on all of them, or a look at all their pictures, would take too much
    of a program's time; else 0.
    """
    most = int(facts.files.most) if facts.files.most < facts.rows else 0
    whole = FAMILIES["hgb"].cheapest(facts)
    if whole <= facts.pace / 2 or facts.rows < 2 * SAMPLE_ROWS:  # half of the rows would save too little
        return most
    share: float = (facts.pace / 4 / whole) ** (1 / FAMILIES["hgb"].power)
    rows = max(SAMPLE_ROWS, round(facts.rows * share / 1000) * 1000)
    return min(rows, most or rows)


def sample_columns(facts: Facts, rows: int) -> int:
    """Numbers that drafts learn from first, where boosting on few rows of all would take a program's time; else 0.

    Args:
        rows: that are drawn; 0 for all.
    """
    whole = FAMILIES["hgb"].cheapest(learned(facts, rows))
    if whole <= facts.pace or len(facts.numbers) <= SAMPLE_COLUMNS:
        return 0
    columns = max(SAMPLE_COLUMNS, round(len(facts.numbers) * facts.pace / 2 / whole / 10) * 10)
    return 0 if columns >= len(facts.numbers) else columns


def _tables(facts: Facts, rng: random.Random, ordinal: int | None) -> tuple[str, ...]:
    """Further tables that a draft joins: the first one all of them, and that beside it none, where there is something
    else: both together tell what the tables are worth."""
    if not facts.sides:
        return ()
    if ordinal == BESIDE and facts.columns:
        return ()
    chosen = tuple(side.file for side in facts.sides if ordinal == 0 or rng.random() < TABLES)
    return chosen if chosen or facts.columns else tuple(side.file for side in facts.sides)


def _panel(
    facts: Facts, rng: random.Random, rows: int, columns: int, tables: tuple[str, ...]
) -> tuple[Recipe, str] | None:
    """Unlike families that share the time of a program, weighed on rows that none of them learned; None where there is
    no time for two of them.
    """
    seen = learned(facts, rows, columns)
    able = {family.name: family for family in suited(seen)}
    steps = tuple(s for s in features.available(facts) if s != "nearest" and (s != "topics" or facts.texts))
    target, rare = _target(facts, rng), _rare(facts, rng)
    recipe = Recipe(target, steps, weights="learned", rows=rows, columns=columns, rare=rare, tables=tables)
    recipe = within(recipe, facts, facts.pace)
    for name in PANELLED:
        if name in able and len(recipe.members) < MAX_MEMBERS:
            member = able[name].default(replace(seen, pace=PANEL_TIME * facts.pace / PANEL_FITS))
            grown = replace(recipe, members=(*recipe.members, member))
            recipe = grown if cost(grown, facts) <= PANEL_TIME * facts.pace else recipe
    if len(recipe.members) < 2:
        return None
    return recipe, f"Weigh {listed(recipe.members)} by out-of-fold fit{_target_words(recipe)}."


def cost(recipe: Recipe, facts: Facts) -> float:
    """Seconds on one thread, about, once the table is read, with as many pictures as there is time for."""
    facts = facts.joining(recipe.tables)
    looks = facts.files.seconds * max(0.0, (recipe.rows or facts.rows) - facts.files.most)
    facts = learned(facts, recipe.rows, recipe.columns)
    facts = replace(facts, more=added(recipe.features, facts))
    fits = recipe.bags + (2 if recipe.weights == "learned" else 0)
    texts = len(facts.texts) * TOPIC_SECONDS * facts.rows / 1000 if "topics" in recipe.features else 0.0
    leaves = facts.grouped and {"effects", "along"} & set(recipe.features)
    effects = 3 * FAMILIES["hgb"].seconds(facts, FIRST) if leaves else 0.0
    effects += ALONG_SECONDS * len(facts.grouped) * facts.rows / 1000 if "along" in recipe.features else 0.0
    cells = len(facts.grouped) * facts.width * facts.rows if "nearest" in recipe.features else 0
    sifting = SIFTING * facts.joined * facts.rows / 1000 if "sifted" in recipe.features else 0.0
    return seconds_of(recipe.members, facts) * fits + texts + effects + NEAR_SECONDS * cells / 1000 + looks + sifting


def within(recipe: Recipe, facts: Facts, most: float) -> Recipe:
    """Without the steps that alone take longer than a program may; what is dearest goes first."""
    for step in DEAR:
        if step in recipe.features and cost(recipe, facts) > most:
            recipe = replace(recipe, features=tuple(name for name in recipe.features if name != step))
    return recipe


def added(steps: tuple[str, ...], facts: Facts) -> int:
    """Columns that come from texts and names, and from missing values."""
    told = features.TOPICS * (len(facts.texts) + len(facts.wordy)) if "topics" in steps else 0
    return told + (len(facts.missing) if "missing" in steps else 0)


def learned(facts: Facts, rows: int, columns: int = 0) -> Facts:
    """The facts of the rows and numbers that are learned from; 0 for all. Flags for missing values are such numbers."""
    if columns:
        facts = replace(facts, alike=max(facts.alike, len(facts.numbers) - columns), missing=())
    return replace(facts, rows=min(rows, facts.rows)) if rows else facts


def drawn_member(family: Family, facts: Facts, rng: random.Random) -> Member:
    """The family's default with up to two parameters drawn anew: far corners of a grid are seldom good."""
    default = member = family.default(facts)
    for name in rng.sample(sorted(family.grid), min(len(family.grid), rng.randint(0, 2))):
        member = member.with_param(name, rng.choice(family.grid[name]))
    return member if family.seconds(facts, member) <= facts.pace else default


def counts_sureness(facts: Facts) -> bool:
    """True where the score tells by how much probabilities are right."""
    return facts.task in ("classes", "probability") and facts.metric in SURE


def _rare(facts: Facts, rng: random.Random) -> float:
    """What rare classes are worth in a draft."""
    if facts.task != "labels" or facts.metric not in UNEVEN:
        return 0.0
    return 1.0 if facts.metric == "balanced_accuracy" else rng.choice((0.0, 0.3, 0.5))


def _chance(step: str, family: Family, facts: Facts) -> float:
    """How likely a draft takes a feature step. Linear models and kernels need tails and extremes pulled in."""
    if step in ("squares", "winsor"):
        return 0.7 if family.wants == "dense" else 0.2
    if step in ("effects", "nearest"):  # the latter is tried beside a program that lacks it
        return float(step == "effects")
    if step == "sifted":
        return 0.8
    if step == "topics":  # dear, and names of products and towns seldom tell much
        return 0.9 if facts.texts else 0.3
    return 0.2 if step == "frequency" else 0.9


def _target(facts: Facts, rng: random.Random) -> str:
    if facts.classifies or not facts.positive_target:
        return "none"
    if facts.metric == "rmsle":
        return "log1p" if rng.random() < 0.85 else rng.choice(("sqrt", "none"))
    return rng.choice(("none", "log1p", "sqrt")) if facts.skewed_target else rng.choice(("none", "none", "sqrt"))


def _target_words(recipe: Recipe) -> str:
    return {"log1p": "; learn the logarithm of the target", "sqrt": "; learn the root of the target"}.get(
        recipe.target, ""
    )


def _drafted(ordinal: int, facts: Facts) -> str:
    """How a draft of boosting sees categories: as they are, few values in the second one as numbers."""
    return "ordinal" if ordinal == BESIDE and not facts.many else "native"


def _encode(family: Family, rng: random.Random) -> str:
    return rng.choice(("native", "native", "target", "ordinal")) if family.wants == "trees" else "native"


def listed(members: tuple[Member, ...]) -> str:
    return ", ".join(FAMILIES[member.family].about for member in members)
