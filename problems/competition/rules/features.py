"""The FEATURES section: steps that a recipe may switch on, each a few plain lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from problems.competition.rules import group_rows, group_times, side_lines
from problems.competition.rules.facts import TELLING, Facts
from problems.competition.rules.made_names import before, made

Lines = list[str]
_PARTS = ("year", "month", "weekday", "day", "weekend", "hour", "days")
TOPICS = 24
"""Numbers that a column of texts becomes."""


def _ranks(facts: Facts) -> Lines:
    lines = ["    # words with an order become numbers"]
    for name, words in facts.scales.items():
        lines.append(
            f"    frame[{made(facts, name + '_rank')!r}] = frame[{name!r}].map(rank({list(words)!r})).fillna(-1)"
        )
    return lines


def _ages(facts: Facts) -> Lines:
    newest, *older = sorted(facts.years, key=lambda name: (not name.lower().endswith(("sold", "end", "last")), name))
    lines = ["    # years become ages"]
    return lines + [
        f"    frame[{made(facts, 'age_' + name)!r}] = frame[{newest!r}] - frame[{name!r}]" for name in older
    ]


def _sums(facts: Facts) -> Lines:
    lines = ["    # like quantities add up"]
    for word, names in facts.groups.items():
        lines.append(f"    frame[{made(facts, 'sum_' + word)!r}] = frame[{list(names)!r}].sum(axis=1)")
        lines.append(f"    frame[{made(facts, 'count_' + word)!r}] = (frame[{list(names)!r}] > 0).sum(axis=1)")
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
        f'        frame[{before(facts)}name + "_missing"] = frame[name].isna().astype(int)',
    ]


def _dates(facts: Facts) -> Lines:
    lines = ["    # dates become parts that repeat, and days that pass"]
    for name in facts.dates:
        called = {part: made(facts, f"{name}_{part}") for part in _PARTS}
        lines += [
            f"    when = {_times(f'frame.pop({name!r})', name, facts)}",
            f"    frame[{called['year']!r}], frame[{called['month']!r}] = when.dt.year, when.dt.month",
            f"    frame[{called['weekday']!r}], frame[{called['day']!r}] = when.dt.weekday, when.dt.dayofyear",
            f"    frame[{called['weekend']!r}] = (when.dt.weekday >= 5).astype(int)",
            f"    frame[{called['hour']!r}] = when.dt.hour + when.dt.minute / 60",
            f"    frame[{called['days']!r}] = (when - pd.Timestamp('2000-01-01')).dt.total_seconds() / 86400",
        ]
    for first, second in pairwise(facts.dates):
        lines.append(
            f"    frame[{made(facts, f'{first}_to_{second}')!r}] = "
            f"frame[{made(facts, second + '_days')!r}] - frame[{made(facts, first + '_days')!r}]"
        )
    return lines


def _times(column: str, name: str, facts: Facts) -> str:
    """The expression of a column's times; those with a zone in universal time."""
    form = f", format={facts.date_formats[name]!r}" if name in facts.date_formats else ""
    return f"pd.to_datetime({column}, errors='coerce', utc=True{form}).dt.tz_localize(None)"


def _holidays(facts: Facts) -> Lines:
    first = facts.dates[0]
    return [
        "    # public holidays and the days beside them",
        "    from pandas.tseries.holiday import USFederalHolidayCalendar",
        f"    when = {_times(f'frame[{first!r}]', first, facts)}.dt.normalize()",
        "    when = when.fillna(pd.Timestamp('2000-01-05'))  # an ordinary day",
        "    holidays = USFederalHolidayCalendar().holidays(when.min(), when.max())",
        f"    frame[{made(facts, 'holiday')!r}] = when.isin(holidays).astype(int)",
        f"    frame[{made(facts, 'after_holiday')!r}] = when.isin(holidays + pd.Timedelta(days=1)).astype(int)",
        f"    frame[{made(facts, 'year_end')!r}] = "
        "((when.dt.month == 12) & (when.dt.day >= 24) | (when.dt.dayofyear <= 2)).astype(int)",
    ]


def _lengths(facts: Facts) -> Lines:
    lines = ["    # how a text is written"]
    for name in facts.texts:
        lines += [
            f"    text = frame[{name!r}].fillna('').astype(str)",
            f"    frame[{made(facts, name + '_words')!r}] = np.log1p(text.str.split().str.len())",
            f"    frame[{made(facts, name + '_shouts')!r}] = np.log1p(text.str.count('!'))",
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

_NUMBERS = 'numbers = list(X.select_dtypes("number"))'


def _winsor(facts: Facts) -> Lines:
    return [
        "low, high = X[numbers].quantile(0.005), X[numbers].quantile(0.995)  # extreme values are pulled in",
        "X[numbers], X_test[numbers] = X[numbers].clip(low, high, axis=1), X_test[numbers].clip(low, high, axis=1)",
    ]


def _frequency(facts: Facts) -> Lines:
    return [
        "for name in categories:  # how frequent a category is",
        "    share = X[name].value_counts(normalize=True)",
        f'    X[{before(facts)}name + "_share"] = X[name].map(share).astype(float).fillna(0)',
        f'    X_test[{before(facts)}name + "_share"] = X_test[name].map(share).astype(float).fillna(0)',
        _NUMBERS,
    ]


def _squares(facts: Facts) -> Lines:
    return [
        "strength = X[numbers].corrwith(pd.Series(pd.factorize(y, sort=True)[0], index=X.index)).abs()",
        "for name in strength.sort_values(ascending=False).index[:8]:  # curves for the strongest numbers",
        f'    X[{before(facts)}name + "_squared"] = (X[name] - X[name].mean()) ** 2',
        f'    X_test[{before(facts)}name + "_squared"] = (X_test[name] - X[name].mean()) ** 2',
        _NUMBERS,
    ]


def _averages(facts: Facts) -> Lines:
    kind = "continuous" if not facts.classifies else "multiclass" if facts.outputs > 1 else "binary"
    target = "pd.factorize(y, sort=True)[0]" if facts.classifies else "y"
    average = made(facts, "average_{place}")
    return [
        "# mean targets of categories of many values; those of a training row are learned from other rows",
        f"many = {list(facts.many)!r}",
        f"means = TargetEncoder(target_type={kind!r}, random_state=0)",
        'codes, codes_test = (table[many].fillna("missing").astype(str) for table in (X, X_test))',
        f"codes, codes_test = means.fit_transform(codes, {target}), means.transform(codes_test)",
        "for place in range(codes.shape[1]):",
        f'    X[f"{average}"], X_test[f"{average}"] = codes[:, place], codes_test[:, place]',
        _NUMBERS,
    ]


def _effects(facts: Facts) -> Lines:
    return [*group_rows.effects(facts), _NUMBERS]


def _nearest(facts: Facts) -> Lines:
    return [*group_rows.nearest(facts), _NUMBERS]


def _stamps(facts: Facts) -> dict[str, str]:
    return group_times.stamps(facts, {name: _times(f"table[{name!r}]", name, facts) for name in facts.dates})


def _along(facts: Facts) -> Lines:
    return [*group_times.along(facts, _stamps(facts), has_left=False), _NUMBERS]


def _topics(facts: Facts) -> Lines:
    how = {name: {"ngram_range": (1, 2), "token_pattern": r"\S+"} for name in facts.texts}
    how |= {name: {"ngram_range": (2, 4), "analyzer": "char_wb"} for name in facts.wordy}
    return [
        "def topics(name, **how):",
        '    """What the words of a column are about, as a few numbers for each of its values."""',
        '    values = pd.concat([X[name], X_test[name]]).fillna("").astype(str).drop_duplicates()',
        "    words = TfidfVectorizer(max_features=20_000, sublinear_tf=True, **how).fit_transform(values)",
        f"    found = TruncatedSVD(max(1, min({TOPICS}, *(size - 1 for size in words.shape))), random_state=0)",
        "    return pd.DataFrame(found.fit_transform(words), index=values.to_numpy())",
        "",
        "",
        f"for name, how in {how!r}.items():",
        "    told = topics(name, **how)",
        "    for table in (X, X_test):",
        f'        table[[f"{made(facts, "{name}_topic_{place}")}" for place in told]] = (',
        '            told.loc[table[name].fillna("").astype(str)].to_numpy()',
        "        )",
        _NUMBERS,
    ]


def _sifted(facts: Facts) -> Lines:
    return [*side_lines.sifted(facts.classifies), _NUMBERS, "categories = [name for name in categories if name in X]"]


LATER: dict[str, tuple[str, Callable[[Facts], bool], Callable[[Facts], Lines]]] = {
    "sifted": ("of further tables the columns that tell something by themselves", lambda f: bool(f.sides), _sifted),
    "winsor": (
        "extreme values pulled to the 0.5 % and 99.5 % quantiles of the training rows",
        lambda f: bool(f.numbers), _winsor,
    ),
    "frequency": ("how frequent a category is, as a number", lambda f: bool(f.categories), _frequency),
    "squares": ("squares of the most correlated numbers", lambda f: bool(f.numbers), _squares),
    "averages": ("mean targets of categories of many values", lambda f: bool(f.many), _averages),
    "effects": ("what rows of a group have in common beyond a first model", lambda f: bool(f.grouped), _effects),
    "nearest": ("the mean target of the nearest rows of a group", lambda f: bool(f.grouped), _nearest),
    "along": (
        "the rows before and after in groups that run in time",
        lambda f: bool(f.grouped and _stamps(f)), _along,
    ),
    "topics": ("what the words of texts and names are about, as numbers", lambda f: bool(f.wordy or f.texts), _topics),
}  # fmt: skip
"""Steps that need the training rows: written after `add_features`, in this order."""


_TELLING_GROUPS = {"effects": group_rows.EFFECTS, "nearest": group_rows.NEAREST, "along": group_times.ALONG}
ORDER_STAYS = ("logs", "winsor")
"""Steps that mean nothing to trees."""


def available(facts: Facts) -> list[str]:
    """Names of the steps that this data set has something for."""
    return [name for name, (_, fits, _) in (STEPS | LATER).items() if fits(facts)]


def worthwhile(chosen: tuple[str, ...], output: str) -> tuple[str, ...]:
    """The steps without those that, as a program of theirs said in its output, only cost time."""
    counts = {name: re.findall(re.escape(told) + r" (\d+)", output) for name, told in _TELLING_GROUPS.items()}
    return tuple(n for n in chosen if not counts.get(n) or any(map(int, counts[n])))


def about(name: str) -> str:
    return (STEPS | LATER)[name][0]


def needed(chosen: tuple[str, ...], facts: Facts, wants: set[str]) -> tuple[str, ...]:
    """The steps that are written: those chosen that the data have something for, and those no model can do without.

    Args:
        wants: what the models want their columns to look like (see Family).
    """
    kept = [name for name in chosen if name in available(facts)]
    must = ["dates"] if facts.dates else []  # no model takes a date as it is
    must += ["topics"] if facts.texts and wants & {"trees", "dense"} else []
    return (*kept, *(name for name in must if name not in kept))


def imports(steps: tuple[str, ...]) -> set[tuple[str, str]]:
    """Pairs of module and name that the lines of these steps need."""
    found = {("sklearn.preprocessing", "TargetEncoder")} if {"averages", "effects"} & set(steps) else set()
    if {"effects", "along"} & set(steps):
        found |= {
            ("sklearn.ensemble", "HistGradientBoostingRegressor"), ("sklearn.model_selection", "KFold"),
            ("sklearn.model_selection", "cross_val_predict"),
        }  # fmt: skip
    if "nearest" in steps:
        found |= {
            ("sklearn.model_selection", "KFold"), ("sklearn.model_selection", "cross_val_predict"),
            ("sklearn.neighbors", "KNeighborsRegressor"),
        }  # fmt: skip
    if "topics" in steps:
        found |= {
            ("sklearn.feature_extraction.text", "TfidfVectorizer"), ("sklearn.decomposition", "TruncatedSVD"),
        }  # fmt: skip
    return found


def _without_alike() -> Lines:
    return [
        "# numbers that are alike in nearly every row teach little and cost as much as others",
        "alike = [n for n in X.select_dtypes('number') if X[n].value_counts(dropna=False).iloc[0] > "
        f"len(X) - {TELLING}]",
        "X, X_test = X.drop(columns=alike), X_test.drop(columns=alike)",
    ]


def _telling(columns: int, facts: Facts) -> Lines:
    aims = "pd.get_dummies(y)" if facts.classifies else "y.rank().to_frame()"
    return [
        f"# the {columns} numbers that tell most by themselves: all of them take longer than there is time for",
        "ranks = X.select_dtypes('number').rank()",
        "ranks, aims = (table.sub(table.mean()).fillna(0) / table.std().clip(lower=1e-9) "
        f"for table in (ranks, {aims}.astype(float)))",
        "told = np.abs(ranks.to_numpy().T @ aims.to_numpy()).max(axis=1)",
        f"others = ranks.columns[np.argsort(-told, kind='stable')[{columns}:]]",
        "X, X_test = X.drop(columns=others), X_test.drop(columns=others)",
    ]


def write(chosen: tuple[str, ...], facts: Facts, columns: int = 0) -> Lines:
    """The whole section, of steps that are `needed`; leaves X, X_test, `numbers` and `categories`.

    Args:
        columns: how many numbers are learned from; 0 for all.
    """
    lines: Lines = []
    if "ranks" in chosen:
        lines += ["def rank(words):", "    return {word: place for place, word in enumerate(words)}", "", ""]
    lines += ["def add_features(frame):", "    frame = frame.copy()"]
    for name, (_, _, step) in STEPS.items():
        if name in chosen:
            lines += step(facts)
    lines += ["    return frame", "", "", "X, X_test = add_features(rows), add_features(test_rows)"]
    lines += _without_alike() if facts.alike else []
    lines += _telling(columns, facts) if columns else []
    lines += [
        _NUMBERS,
        f"texts = {list(facts.texts)!r}",
        "categories = [name for name in X if name not in numbers and name not in texts]",
    ]
    if set(_TELLING_GROUPS) & set(chosen):
        times = {name: _times(f"table[{name!r}]", name, facts) for name in facts.grouped if name in facts.dates}
        lines += group_rows.groups(facts, times)
    for name, (_, _, step) in LATER.items():
        if name == "along" and {"along", "effects"} <= set(chosen):  # which says what a first model leaves
            lines += [*group_times.along(facts, _stamps(facts), has_left=True), _NUMBERS]
        elif name in chosen:
            lines += step(facts)
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
