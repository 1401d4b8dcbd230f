"""Changes one thing of a recipe, or combines two: the moves of the search."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from problems.competition.rules import features, size
from problems.competition.rules.drafts import (
    MAX_MEMBERS,
    UNEVEN,
    cost,
    counts_sureness,
    draft,
    drawn_member,
    learned,
    listed,
)
from problems.competition.rules.facts import Facts
from problems.competition.rules.families import FAMILIES, suited
from problems.competition.rules.family import LARGE, ROUNDS
from problems.competition.rules.recipe import Member, Recipe
from utils.counts import counted

STRENGTH = {"hgb": 4, "gb": 4, "svm": 4, "elastic": 3, "ridge": 2, "logistic": 3, "words": 4, "words_sgd": 4,
            "words_ridge": 4, "extra": 2, "lgbm": 4, "xgb": 3, "cat": 4}  # fmt: skip
"""How often a family is asked to join a blend, beside 1 for all others."""
WEIGHTY = {"max_leaf_nodes": 4, "num_leaves": 4, "max_depth": 4, "learning_rate": 2, "max_features": 2}
"""How often a parameter is tuned, beside 1 for all others: what a tree may say matters most."""
ONWARD = 0.5
"""How likely a step that was worth it is followed by one more in its direction."""
TREES = 0.8
"""How likely a blend that learns many rows gets another family of trees: linear models are seldom near these then."""
GROWN = 3.0
"""How many times its pace a program may take to learn more rows or columns."""
Change = Callable[[Recipe, Facts, random.Random], tuple[Recipe, str] | None]


def random_recipe(facts: Facts, rng: random.Random) -> Recipe:
    """Any point of the repertoire: the control that search is compared with."""
    recipe, _ = draft(facts, rng)
    for _ in range(rng.randint(0, 3)):
        grown = _blend(recipe, facts, rng)
        recipe = grown[0] if grown and cost(grown[0], facts) <= facts.pace else recipe
    return replace(recipe, encode=rng.choice(("native", "ordinal", "target")))


def improve(
    recipe: Recipe, facts: Facts, rng: random.Random, made_by: str = "", *, wide: bool = False, near: bool = False
) -> tuple[Recipe, str]:
    """Change one thing; the result differs from `recipe`, stays affordable and does not undo the parent's own change.

    Args:
        made_by: the plan that the parent was written by.
        wide: parameters and weights may also take values between those of the grid.
        near: what the nearest rows of groups have is tried first, where the data have groups.
    """
    if near and "nearest" not in recipe.features and (found := _with_step("nearest", recipe, facts)):
        return found
    facts = facts.joining(recipe.tables)
    weights = dict(MOVES)
    weights[_blend] = max(1, 10 - 4 * (len(recipe.members) - 1))  # the first partners bring most
    if facts.sides:
        weights[_join] = 6
    if recipe.rows:
        weights[_grow] = 20
    if recipe.columns:
        weights[_widen] = 10
    if counts_sureness(facts):
        weights[_surer] = 5
    if facts.rows >= LARGE:  # few families are left, and their parameters matter more
        weights |= {_tune: 6, _redraw: 6, _blend: min(weights[_blend], 5)}
    if wide:
        weights |= {_fine: 12, _shift: 4, _blend: 2}
    moves: list[Change] = [move for move, weight in weights.items() for _ in range(weight)]
    for trial in range(50):
        further = onward(recipe, made_by) if trial == 0 and rng.random() < ONWARD else None
        changed = further or rng.choice(moves)(recipe, facts, rng)
        if not changed or changed[0] == recipe or undoes(changed[1], made_by):
            continue
        more = (changed[0].rows, changed[0].columns) != (recipe.rows, recipe.columns)
        most = GROWN * facts.pace if more else facts.pace
        if size.fits(changed[0], facts) and cost(changed[0], facts) <= max(most, cost(recipe, facts)):
            return changed
    return draft(facts, rng)


def onward(recipe: Recipe, made_by: str) -> tuple[Recipe, str] | None:
    """One more step in the direction in which the parent's own step was worth it."""
    said = re.match(r"Set (\w+) of (.+) to (\S+) \(was (\S+)\)", made_by)
    for place, member in enumerate(recipe.members):
        family = FAMILIES[member.family]
        values = [repr(value) for value in family.grid.get(said[1], ())] if said else []
        if said and said[2] == family.about and {said[3], said[4]} <= set(values):
            there = 2 * values.index(said[3]) - values.index(said[4])
            if 0 <= there < len(values):
                return _set(recipe, place, said[1], family.grid[said[1]][there])
    return None


def undoes(plan: str, made_by: str) -> bool:
    """True if `plan` takes back what `made_by` did: that program is known already."""
    pairs = ((r"Take (.+) out of the blend", r"Blend in (.+) with"), (r"Leave out: (.+)\.", r"Add (.+)\."))
    for one, other in (*pairs, *((b, a) for a, b in pairs)):
        now, then = re.match(one, plan), re.match(other, made_by)
        if now and then and now[1] == then[1]:
            return True
    now, then = (re.match(r"Set (\w+) of (.+) to (\S+) \(was (\S+)\)", text) for text in (plan, made_by))
    return bool(now and then and now.group(1, 2, 3) == then.group(1, 2, 4))


def merge(first: Recipe, second: Recipe, facts: Facts, rng: random.Random) -> tuple[Recipe, str]:
    """Genes of both parents: models of one beside models of the other, features of either, the better one's target."""
    members = _joined(first.members, second.members)
    while len(members) > 2 and not _affordable(replace(first, members=members), facts):
        members = members[:-1]
    steps = set(first.features) | set(second.features)
    chosen = tuple(n for n in features.available(facts) if n in steps and (n in first.features or rng.random() < 0.5))
    if set(chosen) == set(first.features):  # else the first parent may come out again
        chosen = tuple(name for name in features.available(facts) if name in steps)
    child = replace(first, members=members, features=chosen, encode=rng.choice((first.encode, second.encode)))
    child = replace(child, tables=_tables_of(first, second, facts, rng))
    return (
        child,
        f"Combine both parents: {listed(members)} on the features of the first and some of the second.",
    )


def _tables_of(first: Recipe, second: Recipe, facts: Facts, rng: random.Random) -> tuple[str, ...]:
    """Further tables of the first parent, and some of the second's."""
    names = [side.file for side in facts.sides]
    return tuple(n for n in names if n in first.tables or (n in second.tables and rng.random() < 0.5))


def _affordable(recipe: Recipe, facts: Facts) -> bool:
    return size.fits(recipe, facts) and cost(recipe, facts) <= facts.pace


def _grow(recipe: Recipe, facts: Facts, rng: random.Random) -> tuple[Recipe, str] | None:
    """All rows, or as many as memory has room for; three times as many where these would take too long."""
    room = size.most_rows(recipe, facts)
    whole = replace(recipe, rows=0 if room >= facts.rows else room)
    if 3 * recipe.rows >= min(room, facts.rows) or cost(whole, facts) <= GROWN * facts.pace:
        said = (
            f"all {counted(facts.rows, 'row', form=',')}"
            if not whole.rows
            else f"{counted(room, 'row', form=',')}, for which memory has room"
        )
        return whole, f"Learn {said}."
    return replace(recipe, rows=3 * recipe.rows), f"Learn {counted(3 * recipe.rows, 'row', form=',')}."


def _widen(recipe: Recipe, facts: Facts, rng: random.Random) -> tuple[Recipe, str] | None:
    """All numbers, or three times as many."""
    if 3 * recipe.columns >= len(facts.numbers):
        return replace(recipe, columns=0), f"Learn from all {counted(len(facts.numbers), 'number', form=',')}."
    return replace(recipe, columns=3 * recipe.columns), f"Learn from {counted(3 * recipe.columns, 'number', form=',')}."


def _rarer(recipe: Recipe, facts: Facts, rng: random.Random) -> tuple[Recipe, str] | None:
    if facts.task != "labels" or facts.metric not in UNEVEN:
        return None
    rare = max(0.0, round(recipe.rare + rng.choice((-0.3, -0.1, 0.1, 0.3)), 2))
    return replace(recipe, rare=rare), f"Divide probabilities by the classes' shares to the power of {rare:g}."


def _surer(recipe: Recipe, facts: Facts, rng: random.Random) -> tuple[Recipe, str] | None:
    """Probabilities nearer to 0 and 1, or further from them."""
    power = float(f"{recipe.power * rng.choice((0.7, 0.85, 1.2, 1.4, 2.0)):.2g}")
    if not 0.2 <= power <= 6:
        return None
    return replace(recipe, power=power), f"Raise probabilities to the power of {power:g} (was {recipe.power:g})."


def _blend(recipe: Recipe, facts: Facts, rng: random.Random) -> tuple[Recipe, str] | None:
    there = {member.family for member in recipe.members}
    seen = learned(facts, recipe.rows, recipe.columns)
    others = [family for family in suited(seen) if family.name not in there]
    if not others or len(recipe.members) >= MAX_MEMBERS:
        return None
    unlike = [f for f in others if f.wants not in {FAMILIES[name].wants for name in there}]
    large = facts.rows >= LARGE
    if large and rng.random() < TREES:
        unlike, others = [], [family for family in others if family.wants == "trees"] or others
    pool = unlike if unlike and rng.random() < 0.7 else others
    family = rng.choices(pool, [STRENGTH.get(family.name, 1) for family in pool])[0]
    member = drawn_member(family, seen, rng)
    total = sum(m.weight for m in recipe.members)
    share = rng.choice((0.3, 0.5, 0.6)) if len(recipe.members) == 1 else rng.choice((0.2, 0.3, 0.4))
    share = rng.choice((0.1, 0.2, 0.4)) if large else share  # many rows tell good models from poor ones
    grown = (*recipe.members, replace(member, weight=round(total * share / (1 - share), 4)))
    return replace(recipe, members=grown), f"Blend in {family.about} with a share of {share:.0%}."


def _tune(recipe: Recipe, facts: Facts, rng: random.Random) -> tuple[Recipe, str] | None:
    place = rng.randrange(len(recipe.members))
    member = recipe.members[place]
    grid = FAMILIES[member.family].grid
    name = rng.choice([name for name in sorted(grid) for _ in range(WEIGHTY.get(name, 1))])
    values, now = grid[name], member.param(name)
    here = values.index(now) if now in values else len(values) // 2
    there = max(0, min(len(values) - 1, here + rng.choice((-1, 1))))
    return _set(recipe, place, name, values[there])


def _set(recipe: Recipe, place: int, name: str, value: Any) -> tuple[Recipe, str]:
    """Another value of a parameter of one model."""
    member = recipe.members[place]
    members = (*recipe.members[:place], member.with_param(name, value), *recipe.members[place + 1 :])
    said = f"Set {name} of {FAMILIES[member.family].about} to {value!r} (was {member.param(name)!r})."
    return replace(recipe, members=members), said


def _slower(recipe: Recipe, facts: Facts, rng: random.Random) -> tuple[Recipe, str] | None:
    """More rounds of a booster in smaller steps: nearly always better, and dearer."""
    able = [place for place, member in enumerate(recipe.members) if FAMILIES[member.family].tree]
    if not able:
        return None
    place = rng.choice(able)
    member, family = recipe.members[place], FAMILIES[recipe.members[place].family]
    name = next(name for name in ROUNDS if name in family.grid)
    rate, rounds = member.param("learning_rate"), member.param(name)
    if not rate or not rounds or rate < 0.01:
        return None
    factor = rng.choice((1.5, 2.0, 3.0))
    member = member.with_param(name, round(rounds * factor)).with_param("learning_rate", float(f"{rate / factor:.2g}"))
    members = (*recipe.members[:place], member, *recipe.members[place + 1 :])
    return replace(recipe, members=members), f"{family.about}: {factor:g} times as many rounds in smaller steps."


def _restart(recipe: Recipe, facts: Facts, rng: random.Random) -> tuple[Recipe, str] | None:
    """A booster with parameters of quite another kind: shyer or bolder."""
    able = [place for place, member in enumerate(recipe.members) if FAMILIES[member.family].starts]
    if not able:
        return None
    place = rng.choice(able)
    family = FAMILIES[recipe.members[place].family]
    which = rng.randrange(len(family.starts))
    member = replace(family.start(which), weight=recipe.members[place].weight)
    members = (*recipe.members[:place], member, *recipe.members[place + 1 :])
    how = ("the shyest", "shy", "bold", "the boldest")[which]
    return replace(recipe, members=members), f"Give {family.about} {how} parameters."


def _redraw(recipe: Recipe, facts: Facts, rng: random.Random) -> tuple[Recipe, str] | None:
    """Two to four parameters of one model at once."""
    place = rng.randrange(len(recipe.members))
    member = recipe.members[place]
    family = FAMILIES[member.family]
    if len(family.grid) < 3:
        return None
    names = rng.sample(sorted(family.grid), rng.randint(2, min(4, len(family.grid))))
    for name in names:
        member = member.with_param(name, rng.choice(family.grid[name]))
    members = (*recipe.members[:place], member, *recipe.members[place + 1 :])
    return replace(recipe, members=members), f"Draw {', '.join(names)} of {family.about} anew."


def _fine(recipe: Recipe, facts: Facts, rng: random.Random) -> tuple[Recipe, str] | None:
    """A parameter between and beyond the values of its grid, some 30 % off; a share stays a share."""
    place = rng.randrange(len(recipe.members))
    member = recipe.members[place]
    family = FAMILIES[member.family]
    name = rng.choice(sorted(family.grid))
    values, now = family.grid[name], member.param(name)
    now = values[len(values) // 2] if now is None else now
    if isinstance(now, bool) or not isinstance(now, int | float) or now <= 0:
        return None
    moved, numbers = now * 2 ** rng.gauss(0, 0.4), [one for one in values if isinstance(one, int | float)]
    if isinstance(now, int):
        value: int | float = max(1 if min(numbers) < 2 else 2, round(moved))
    else:
        value = float(f"{min(moved, 1.0) if max(numbers) <= 1 else moved:.3g}")
    members = list(recipe.members)
    members[place] = member.with_param(name, value)
    return replace(recipe, members=tuple(members)), f"Set {name} of {family.about} to {value!r} (was {now!r})."


def _shift(recipe: Recipe, facts: Facts, rng: random.Random) -> tuple[Recipe, str] | None:
    """A weight of the blend, by any factor."""
    if len(recipe.members) < 2:
        return None
    place, factor = rng.randrange(len(recipe.members)), round(2 ** rng.gauss(0, 0.5), 2)
    members = list(recipe.members)
    members[place] = replace(members[place], weight=round(members[place].weight * max(factor, 0.1), 4))
    return replace(recipe, members=tuple(members), weights="given"), (
        f"Multiply the weight of {FAMILIES[members[place].family].about} by {factor}."
    )


def _feature(recipe: Recipe, facts: Facts, rng: random.Random) -> tuple[Recipe, str] | None:
    wants = {FAMILIES[member.family].wants for member in recipe.members}
    known = [name for name in features.available(facts) if wants != {"trees"} or name not in features.ORDER_STAYS]
    if not known or wants == {"words"}:
        return None  # models of words alone do not look at columns
    name = rng.choice(known)
    if name in recipe.features:
        return replace(
            recipe, features=tuple(n for n in recipe.features if n != name)
        ), f"Leave out: {features.about(name)}."
    return _with_step(name, recipe, facts)


def _join(recipe: Recipe, facts: Facts, rng: random.Random) -> tuple[Recipe, str] | None:
    """One further table more, or one less."""
    side = rng.choice(facts.sides)
    toggled = {*recipe.tables} ^ {side.file}
    if not (toggled or facts.columns):
        return None  # nothing else is there to learn from
    tables = tuple(other.file for other in facts.sides if other.file in toggled)
    plan = f"Add {side.about}." if side.file in toggled else f"Leave out: {side.about}."
    return replace(recipe, tables=tables), plan


def _with_step(name: str, recipe: Recipe, facts: Facts) -> tuple[Recipe, str] | None:
    """One more feature step, where the data have something for it and there is time."""
    chosen = tuple(n for n in features.available(facts) if n in recipe.features or n == name)
    grown = replace(recipe, features=chosen)
    able = name in chosen and cost(grown, facts) <= max(GROWN * facts.pace, cost(recipe, facts))
    return (grown, f"Add {features.about(name)}.") if able else None


def _retarget(recipe: Recipe, facts: Facts, rng: random.Random) -> tuple[Recipe, str] | None:
    if facts.classifies or not facts.positive_target:
        return None
    target = rng.choice([t for t in ("none", "log1p", "sqrt") if t != recipe.target])
    words = {"none": "itself", "log1p": "through log(1 + y)", "sqrt": "through its square root"}[target]
    return replace(recipe, target=target), f"Learn the target {words}."


def _recode(recipe: Recipe, facts: Facts, rng: random.Random) -> tuple[Recipe, str] | None:
    if not facts.categories or not any(FAMILIES[m.family].wants == "trees" for m in recipe.members):
        return None
    encode = rng.choice([e for e in ("native", "ordinal", "target") if e != recipe.encode])
    words = {"native": "as categories", "ordinal": "as numbers", "target": "as mean targets"}[encode]
    return replace(recipe, encode=encode), f"Show categories to trees {words}."


def _reweigh(recipe: Recipe, facts: Facts, rng: random.Random) -> tuple[Recipe, str] | None:
    if len(recipe.members) < 2:
        return None
    if rng.random() < 0.5:
        weights = "learned" if recipe.weights == "given" else "given"
        return replace(
            recipe, weights=weights
        ), f"Weigh the models by {'out-of-fold fit' if weights == 'learned' else 'hand'}."
    place, factor = rng.randrange(len(recipe.members)), rng.choice((0.5, 0.7, 1.5, 2.0))
    members = list(recipe.members)
    members[place] = replace(members[place], weight=round(members[place].weight * factor, 4))
    return replace(recipe, members=tuple(members), weights="given"), (
        f"Multiply the weight of {FAMILIES[members[place].family].about} by {factor}."
    )


def _bag(recipe: Recipe, facts: Facts, rng: random.Random) -> tuple[Recipe, str] | None:
    if not any(FAMILIES[member.family].seeded for member in recipe.members):
        return None
    bags = recipe.bags + 1 if recipe.bags < 3 else 1
    return replace(recipe, bags=bags), f"Average {counted(bags, 'seed')}."


def _drop(recipe: Recipe, facts: Facts, rng: random.Random) -> tuple[Recipe, str] | None:
    if len(recipe.members) < 2:
        return None
    place = rng.randrange(len(recipe.members))
    gone = FAMILIES[recipe.members[place].family].about
    return replace(
        recipe, members=recipe.members[:place] + recipe.members[place + 1 :]
    ), f"Take {gone} out of the blend."


def _joined(first: tuple[Member, ...], second: tuple[Member, ...]) -> tuple[Member, ...]:
    """Members of both, equal total weight for each side; a family that both have keeps the first's parameters."""
    sides = [sum(m.weight for m in side) or 1.0 for side in (first, second)]
    found: dict[str, Member] = {}
    for side, total in zip((first, second), sides, strict=True):
        for member in side:
            share = member.weight / total
            old = found.get(member.family)
            found[member.family] = replace(old or member, weight=round((old.weight if old else 0) + share, 4))
    return tuple(found.values())[:MAX_MEMBERS]


MOVES: tuple[tuple[Change, int], ...] = (
    (_blend, 10), (_tune, 3), (_feature, 3), (_reweigh, 2), (_recode, 1), (_retarget, 1), (_bag, 1), (_drop, 1),
    (_rarer, 2), (_slower, 3), (_restart, 2),
)  # fmt: skip
"""Each with its weight in the draw."""
