"""What rows of a group tell of each other, such as those of one person or one day: lines of the FEATURES section."""

from __future__ import annotations

from collections.abc import Mapping

from problems.competition.rules.facts import Facts
from problems.competition.rules.made_names import before

EFFECTS, NEAREST = "columns whose groups tell something:", "columns whose groups' nearest rows tell something:"
"""What a program says before their number."""
LEAST_EFFECT = 0.1
"""Correlation of groups' means with what a first model leaves of the target, from which on they are told to models."""
LEAST_NEAR, MOST_NEAR = 0.3, 3
"""Correlation with the target of what the nearest rows have, and of how many groups it is told."""
NEIGHBOURS = 8
CROWDED = 300
"""Rows in the group of a row, on average, up to which the nearest among them are sought."""
FAR = 1000.0
"""Between two groups, in standard deviations: no number of up to 200,000 rows is further than half of it from their
mean."""


def groups(facts: Facts, times: Mapping[str, str]) -> list[str]:
    """Which rows are of one group; written before what is told of them.

    Args:
        times: expressions of the times of dates in a `table`: their days and seasons are groups.
    """
    named = [name for name in facts.grouped if name not in times]
    lines = [
        "def groups(table):",
        '    """Columns whose equal values may name rows that have more in common, such as those of one person."""',
        f"    found = {{name: table[name] for name in {named!r}}}",
    ]
    for name, when in times.items():
        lines += [f"    when = {when}", f"    found[{name + '_day'!r}] = when.dt.normalize()",
                  f"    found[{name + '_season'!r}] = when.dt.dayofyear"]  # fmt: skip
    text = 'key.astype(object).fillna("missing").astype(str)'
    return [*lines, f"    return {{name: {text} for name, key in found.items()}}", "", "", f"aim = {_aim(facts)}"]


def effects(facts: Facts) -> list[str]:
    """The mean, over a group, of what a first model leaves of the target."""
    return [
        "# what a first model leaves of the target may be alike in the rows of a group: the group's mean of it,",
        "# learned from other rows, stays where it tells something",
        "codes, codes_test = pd.DataFrame(groups(rows)), pd.DataFrame(groups(test_rows))",
        *left(),
        'means = TargetEncoder(target_type="continuous", random_state=0)',
        "found, found_test = means.fit_transform(codes, left), means.transform(codes_test)",
        f"telling = [np.corrcoef(found[:, place], left)[0, 1] > {LEAST_EFFECT} for place in range(codes.shape[1])]",
        "for place, name in enumerate(codes):",
        "    if telling[place]:",
        f'        X[{before(facts)}name + "_effect"] = found[:, place]',
        f'        X_test[{before(facts)}name + "_effect"] = found_test[:, place]',
        f'print("{EFFECTS}", sum(telling))',
    ]


def left() -> list[str]:
    """What a first model leaves of the target."""
    return [
        "others = X.drop(columns=texts)",
        "others = others.assign(**{name: others[name].factorize()[0] for name in others if name not in numbers})",
        "first = HistGradientBoostingRegressor(max_leaf_nodes=15, early_stopping=False, random_state=0)",
        "left = aim - cross_val_predict(first, others, aim, cv=KFold(3, shuffle=True, random_state=0))",
    ]


def nearest(facts: Facts) -> list[str]:
    """The mean target of a row's nearest in its group, by all numbers.

    Models that are bold enough find much of it by themselves, and then it only misleads: the search has to choose.
    """
    return [
        "# the nearest rows of a group, such as the same person a year before: their mean target",
        "places = pd.concat([X[numbers], X_test[numbers]]).astype(float)",
        "places = ((places - places.mean()) / places.std().clip(lower=1e-9)).fillna(0).to_numpy()",
        f'near = KNeighborsRegressor({NEIGHBOURS}, weights="distance")',
        "told, keys_test = {}, groups(test_rows)",
        "for name, key in groups(rows).items():",
        "    code = pd.factorize(pd.concat([key, keys_test[name]]))[0]",
        "    sizes = np.bincount(code[: len(X)])",
        f"    if 2 * (sizes > 0).sum() <= len(X) and (sizes**2).sum() <= {CROWDED} * len(X):",
        f"        there, there_test = np.split(np.column_stack([{FAR} * code, places]), [len(X)])",
        "        found = cross_val_predict(near, there, aim, cv=KFold(5, shuffle=True, random_state=0))",
        "        told[np.corrcoef(found, aim)[0, 1]] = name, found, near.fit(there, aim).predict(there_test)",
        f"best = [told[worth] for worth in sorted(told, reverse=True)[:{MOST_NEAR}] if worth > {LEAST_NEAR}]",
        "for name, found, found_test in best:",
        f'    X[{before(facts)}name + "_near"], X_test[{before(facts)}name + "_near"] = found, found_test',
        f'print("{NEAREST}", len(best))',
    ]


def _aim(facts: Facts) -> str:
    if facts.classifies:
        return "(y == np.unique(y)[-1]).to_numpy(float)"
    return "np.log1p(y.clip(lower=0)).to_numpy(float)" if facts.metric == "rmsle" else "pd.Series(y).to_numpy(float)"
