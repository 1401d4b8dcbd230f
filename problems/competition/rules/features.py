"""The FEATURES section: steps that a recipe may switch on, each a few plain lines."""

from __future__ import annotations

from collections.abc import Callable

from problems.competition.rules.facts import Facts

Lines = list[str]


def _ranks(facts: Facts) -> Lines:
    lines = ["    # words with an order become numbers"]
    for name, words in facts.scales.items():
        lines.append(f"    frame[{name + '_rank'!r}] = frame[{name!r}].map(rank({list(words)!r})).fillna(-1)")
    return lines


def _ages(facts: Facts) -> Lines:
    newest, *older = sorted(facts.years, key=lambda name: (not name.lower().endswith(("sold", "end", "last")), name))
    lines = ["    # years become ages"]
    return lines + [f"    frame[{'age_' + name!r}] = frame[{newest!r}] - frame[{name!r}]" for name in older]


def _sums(facts: Facts) -> Lines:
    lines = ["    # like quantities add up"]
    for word, names in facts.groups.items():
        lines.append(f"    frame[{'sum_' + word!r}] = frame[{list(names)!r}].sum(axis=1)")
        lines.append(f"    frame[{'count_' + word!r}] = (frame[{list(names)!r}] > 0).sum(axis=1)")
    return lines


def _logs(facts: Facts) -> Lines:
    return [
        "    # long tails are pulled in",
        f"    for name in {list(facts.skewed)!r}:",
        "        frame[name] = np.log1p(frame[name].clip(lower=0))",
    ]


def _missing(facts: Facts) -> Lines:
    return [
        "    # that a value is missing may tell something",
        f"    for name in {list(facts.missing)!r}:",
        '        frame[name + "_missing"] = frame[name].isna().astype(int)',
    ]


def _dates(facts: Facts) -> Lines:
    lines = ["    # dates become parts that repeat"]
    for name in facts.dates:
        lines += [
            f"    when = pd.to_datetime(frame.pop({name!r}), errors='coerce'{_form(name, facts)})",
            f"    frame[{name + '_year'!r}], frame[{name + '_month'!r}] = when.dt.year, when.dt.month",
            f"    frame[{name + '_weekday'!r}], frame[{name + '_day'!r}] = when.dt.weekday, when.dt.dayofyear",
            f"    frame[{name + '_weekend'!r}] = (when.dt.weekday >= 5).astype(int)",
        ]
    return lines


def _form(name: str, facts: Facts) -> str:
    return f", format={facts.date_formats[name]!r}" if name in facts.date_formats else ""


def _holidays(facts: Facts) -> Lines:
    first = facts.dates[0]
    return [
        "    # public holidays and the days beside them",
        "    from pandas.tseries.holiday import USFederalHolidayCalendar",
        f"    when = pd.to_datetime(frame[{first!r}], errors='coerce'{_form(first, facts)}).dt.normalize()",
        "    holidays = USFederalHolidayCalendar().holidays(when.min(), when.max())",
        "    frame['holiday'] = when.isin(holidays).astype(int)",
        "    frame['after_holiday'] = when.isin(holidays + pd.Timedelta(days=1)).astype(int)",
        "    frame['year_end'] = ((when.dt.month == 12) & (when.dt.day >= 24) | (when.dt.dayofyear <= 2)).astype(int)",
    ]


def _lengths(facts: Facts) -> Lines:
    lines = ["    # how a text is written"]
    for name in facts.texts:
        lines += [
            f"    text = frame[{name!r}].fillna('').astype(str)",
            f"    frame[{name + '_words'!r}] = np.log1p(text.str.split().str.len())",
            f"    frame[{name + '_shouts'!r}] = np.log1p(text.str.count('!'))",
        ]
    return lines


STEPS: dict[str, tuple[str, Callable[[Facts], bool], Callable[[Facts], Lines]]] = {
    "ranks": ("ordered words as numbers", lambda f: bool(f.scales), _ranks),
    "ages": ("differences of years", lambda f: len(f.years) > 1, _ages),
    "sums": ("sums of like quantities", lambda f: bool(f.groups), _sums),
    "missing": ("flags for missing values", lambda f: bool(f.missing), _missing),
    "lengths": ("length of texts", lambda f: bool(f.texts), _lengths),
    "holidays": ("public holidays", lambda f: bool(f.dates), _holidays),
    "dates": ("parts of dates", lambda f: bool(f.dates), _dates),
    "logs": ("logarithms of long-tailed columns", lambda f: bool(f.skewed), _logs),
}
"""Name → what it is for the plan, whether the data have something for it, and its lines. Applied in this order."""

LATER = {
    "winsor": "extreme values pulled to the 0.5 % and 99.5 % quantiles of the training rows",
    "frequency": "how frequent a category is, as a number",
    "squares": "squares of the most correlated numbers",
}
"""Steps that need the training rows: written after `add_features`."""


def available(facts: Facts) -> list[str]:
    """Names of the steps that this data set has something for."""
    later = [
        n
        for n, fits in (("winsor", facts.numbers), ("frequency", facts.categories), ("squares", facts.numbers))
        if fits
    ]
    return [name for name, (_, fits, _) in STEPS.items() if fits(facts)] + later


def about(name: str) -> str:
    return STEPS[name][0] if name in STEPS else LATER.get(name, name)


def write(chosen: tuple[str, ...], facts: Facts) -> Lines:
    """The whole section; leaves X, X_test, `numbers` and `categories`."""
    chosen = tuple(name for name in chosen if name in available(facts))
    if facts.dates and "dates" not in chosen:
        chosen = (*chosen, "dates")  # no model takes a date as it is
    lines: Lines = []
    if "ranks" in chosen:
        lines += ["def rank(words):", "    return {word: place for place, word in enumerate(words)}", "", ""]
    lines += ["def add_features(frame):", "    frame = frame.copy()"]
    for name, (_, _, step) in STEPS.items():
        if name in chosen:
            lines += step(facts)
    lines += ["    return frame", "", "", "X, X_test = add_features(rows), add_features(test_rows)"]
    lines += [
        "numbers = [name for name in X if pd.api.types.is_numeric_dtype(X[name])]",
        f"texts = {list(facts.texts)!r}",
        "categories = [name for name in X if name not in numbers and name not in texts]",
    ]
    for name in LATER:
        if name in chosen:
            lines += _LATER[name]
    lines += [
        *(
            [
                "for name in texts:",
                '    X[name], X_test[name] = X[name].fillna("").astype(str), X_test[name].fillna("").astype(str)',
            ]
            if facts.texts
            else []
        ),
        "for name in categories:  # one list of categories for both tables; rare ones share a name",
        '    X[name], X_test[name] = X[name].fillna("missing").astype(str), X_test[name].fillna("missing").astype(str)',
        '    kind = pd.CategoricalDtype(sorted(set(X[name].value_counts().index[:150]) | {"other"}))',
        '    X[name] = X[name].where(X[name].isin(kind.categories), "other").astype(kind)',
        '    X_test[name] = X_test[name].where(X_test[name].isin(kind.categories), "other").astype(kind)',
    ]
    return lines


_LATER: dict[str, Lines] = {
    "winsor": [
        "low, high = X[numbers].quantile(0.005), X[numbers].quantile(0.995)  # extreme values are pulled in",
        "X[numbers], X_test[numbers] = X[numbers].clip(low, high, axis=1), X_test[numbers].clip(low, high, axis=1)",
    ],
    "frequency": [
        "for name in categories:  # how frequent a category is",
        "    share = X[name].value_counts(normalize=True)",
        '    X[name + "_share"] = X[name].map(share).astype(float).fillna(0)',
        '    X_test[name + "_share"] = X_test[name].map(share).astype(float).fillna(0)',
        "numbers = [name for name in X if pd.api.types.is_numeric_dtype(X[name])]",
    ],
    "squares": [
        "strength = X[numbers].corrwith(pd.Series(pd.factorize(y, sort=True)[0], index=X.index)).abs()",
        "for name in strength.sort_values(ascending=False).index[:8]:  # curves for the strongest numbers",
        '    X[name + "_squared"] = (X[name] - X[name].mean()) ** 2',
        '    X_test[name + "_squared"] = (X_test[name] - X[name].mean()) ** 2',
        "numbers = [name for name in X if pd.api.types.is_numeric_dtype(X[name])]",
    ],
}
