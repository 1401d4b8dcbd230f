"""Lines of the DATA section that join further tables to the rows to learn and to predict."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from problems.competition.rules.side_tables import SHARES, SideTable

LEAST_TOLD = 2.5
"""Ratio of variances (F) between and within eighths from which a column tells something: chance has it in 1 of 60."""

_NAMED = '''
def when(column, form):
    """Times, as they are written; numbers such as 20170301 are days."""
    if form == "%Y%m%d":
        column = pd.to_numeric(column, errors="coerce").astype("Int64").astype(str)
    return pd.to_datetime(column, errors="coerce", utc=True, format=form or None).dt.tz_localize(None)


def days(times):
    return (times - pd.Timestamp("2000-01-01")).dt.total_seconds() / 86400


def alike(column, way, form):
    """A column in the form in which two tables are compared: 7, 7.0 and "7" are one number."""
    if way == "number":
        return pd.to_numeric(column, errors="coerce").astype(float)
    if way == "text":
        return column.astype(str).str.strip().where(column.notna())
    times = when(column, form)
    return times.dt.normalize() if way == "day" else times


def keys_of(by, tables):
    """Each key of our tables with a number, and the numbers of their rows' keys."""
    ours = [
        pd.DataFrame({place: alike(table[mine], way, form) for place, (mine, _, way, form, _) in enumerate(by)})
        for table in tables
    ]
    keys = pd.concat(ours).dropna().drop_duplicates()
    keys["key"] = np.arange(len(keys))
    return keys, [our.merge(keys, how="left")["key"].to_numpy() for our in ours]


def pieces_of(file, by, columns, keys, how):
    """Rows of a further table that are named by keys, whose numbers are their index: it may be larger than memory."""
    wanted = [*dict.fromkeys([*columns, *(side for _, side, _, _, _ in by)])]
    for piece in PIECES:
        theirs = {place: alike(piece[side], way, form) for place, (_, side, way, _, form) in enumerate(by)}
        piece.index = pd.DataFrame(theirs).merge(keys, how="left")["key"].to_numpy()
        yield piece.loc[piece.index.notna(), columns]


def named(file, by, columns, tables, **how):
    """Rows of a further table that are named by rows of ours, and the numbers of the keys of our tables."""
    keys, ours = keys_of(by, tables)
    return pd.concat(pieces_of(file, by, columns, keys, how)), ours


def number(column):
    return pd.to_numeric(column, errors="coerce").astype(float).replace([np.inf, -np.inf], np.nan)


def word(column):
    return column.astype(str).where(column.notna())


def joined(told, keys, prefix):
    """The rows to learn and to predict with what a further table tells of each; what is alike in all says nothing."""
    found = [told.reindex(numbers).add_prefix(prefix) for numbers in keys]
    telling = found[0].columns[found[0].nunique() > 1]
    further.extend(telling)
    both = zip((rows, test_rows), found)
    return [pd.concat([known, more[telling].set_axis(known.index)], axis=1) for known, more in both]
'''

_PIECES = "pd.read_csv(file, usecols=wanted, chunksize=200_000, low_memory=False, **how)"
_READ = f'''
def read(file, wanted, how):
    """A further table, in pieces where it is text."""
    if how.pop("parquet", False):
        return [pd.read_parquet(file, columns=wanted)]
    if how.pop("json", False):
        return [pd.read_json(file, dtype=False, precise_float=True, **how)[wanted]]
    return {_PIECES}

'''

_INNER = '''
def beside(there, told, keys, prefix):
    """Rows of a further table with what one more tells of each; and the new columns of numbers and of words."""
    more = told.reindex(keys).add_prefix(prefix).set_axis(there.index)
    numbers = list(more.select_dtypes("number"))
    return pd.concat([there, more], axis=1), numbers, [name for name in more if name not in numbers]
'''

_LINKED = '''
def linked(there, keys, columns):
    """The tables to learn and to predict with columns that name rows of one more table."""
    first = there.loc[~there.index.duplicated(), columns]
    found = [first.reindex(numbers).set_axis(table.index) for table, numbers in zip((train, test), keys)]
    return [pd.concat([table, more], axis=1) for table, more in zip((train, test), found)]
'''

_ONE = '''
def of_one(there, numbers, words, dates):
    """Columns of a table that has one row for each key."""
    there = there[~there.index.duplicated()]
    found = {name: number(there[name]) for name in numbers}
    found |= {name: word(there[name]) for name in words}
    for name, form in dates:
        time = when(there[name], form)
        found |= {f"{name}_year": time.dt.year, f"{name}_month": time.dt.month}
        found |= {f"{name}_weekday": time.dt.weekday, f"{name}_days": days(time)}
    return pd.DataFrame(found)
'''

_MANY = '''
def of_many(there, numbers, words, dates, ways, last):
    """What all rows of a key tell together: how many they are, their numbers in several ways, how many words of a kind
    they have, which most often, and how frequent those are that most rows have; the first and the last day.

    With `last` also what the newest row has.
    """
    found = {"rows": there.groupby(level=0).size()}
    values = pd.DataFrame({name: number(there[name]) for name in numbers}, index=there.index)
    said = {name: word(there[name]) for name in words}
    for way in ways if numbers else ():
        found |= {f"{name}_{way}": one for name, one in values.groupby(level=0).agg(way).items()}
    for name, words_of in said.items():
        counts = words_of.groupby([there.index, words_of]).size()
        kinds = counts.rename("count").rename_axis(["key", "word"]).reset_index().sort_values("count", kind="stable")
        found[f"{name}_kinds"] = counts.groupby(level=0).size()
        found[f"{name}_most"] = kinds.drop_duplicates("key", keep="last").set_index("key")["word"]
        for place, frequent in enumerate(words_of.value_counts().index[:SHARES]):
            found[f"{name}_share_{place}"] = (words_of == frequent).groupby(level=0).mean()
    for name, form in dates:
        passed = days(when(there[name], form)).groupby(level=0)
        found |= {f"{name}_first": passed.min(), f"{name}_last": passed.max()}
    if last:
        time = days(when(there[dates[0][0]], dates[0][1])).fillna(-np.inf).to_numpy()
        newest = values.assign(**said).iloc[np.argsort(time, kind="stable")]
        newest = newest[~newest.index.duplicated(keep="last")]
        found |= {f"{name}_newest": newest[name] for name in newest}
    return pd.DataFrame(found)
'''

_SUMMED = '''
def summed(file, by, tables, numbers, words, dates, ways, **how):
    """What all rows of a key tell together, as of_many has it, of a table whose rows have no room in memory: each piece
    is summed up, and so are the sums. Of words only how frequent those are that the first piece has most often.

    Also the numbers of the keys of our tables.
    """
    keys, ours = keys_of(by, tables)
    columns, sums, frequent = [*numbers, *words, *(name for name, _ in dates)], {}, None
    for piece in pieces_of(file, by, columns, keys, how):
        values = pd.DataFrame({name: number(piece[name]) for name in numbers}, index=piece.index)
        said = {name: word(piece[name]) for name in words}
        times = pd.DataFrame({name: days(when(piece[name], form)) for name, form in dates}, index=piece.index)
        frequent = frequent or {name: one.value_counts().index[:SHARES] for name, one in said.items()}
        shares = {
            f"{name}_share_{at}": one == other for name, one in said.items() for at, other in enumerate(frequent[name])
        }
        both = pd.concat([values, times], axis=1).groupby(level=0)
        counts = pd.DataFrame({"rows": 1.0, **shares}, index=piece.index).astype(float).groupby(level=0).sum()
        added = {"sum": values.groupby(level=0).sum(), "count": values.groupby(level=0).count(), "rows": counts}
        for way, more in {**added, "min": both.min(), "max": both.max()}.items():
            known = sums.get(way)
            if known is not None and way in ("min", "max"):
                more = pd.concat([known, more]).groupby(level=0).agg(way)
            elif known is not None:
                more = known.add(more, fill_value=0)
            sums[way] = more
    found = {"rows": sums["rows"].pop("rows")}
    sums["mean"] = sums["sum"] / sums["count"]
    for way in ways:
        found |= {f"{name}_{way}": sums[way][name] for name in numbers}
    found |= {name: one / found["rows"] for name, one in sums["rows"].items()}
    for name, _ in dates:
        found |= {f"{name}_first": sums["min"][name], f"{name}_last": sums["max"][name]}
    return pd.DataFrame(found), ours
'''


def lines(tables: Sequence[SideTable], dates: Sequence[tuple[str, str]]) -> list[str]:
    """Behind `rows` and `test_rows` of `train` and `test`, which have the same index: adds the tables' columns.

    Args:
        dates: the first of our own, and how it is written: how long before it the last row of a key was is told.
    """
    if not tables:
        return []
    every = [one for table in tables for one in (table, *table.inner)]
    is_whole = any(one.is_whole for one in every)
    text = f"{_READ}{_NAMED}" if is_whole else _NAMED
    text += f"\n{_INNER}" if any(table.inner for table in tables) else ""
    text += f"\n{_LINKED}" if any(table.links for table in tables) else ""
    text += f"\n{_ONE}" if any(table.one for table in every) else ""
    text += f"\n{_MANY}" if not all(table.one or table.in_pieces for table in every) else ""
    text += f"\n{_SUMMED}" if any(table.in_pieces for table in every) else ""
    text = text.replace("PIECES", "read(file, wanted, how)" if is_whole else _PIECES)
    text = text.replace("SHARES", str(SHARES)).rstrip()
    found = ["", *text.splitlines(), "", "", "further = []  # columns that are joined"]
    for one in chain.from_iterable(table.each for table in tables):
        found += _join(one, dates)
    return found


def sifted(classifies: bool) -> list[str]:
    """Of the FEATURES section: of the columns that are joined those stay that tell something by themselves. What two
    tell together alone is lost: the search has to choose."""
    aims = "pd.get_dummies(y).astype(float)" if classifies else "y.rank().to_frame()"
    return [
        "def tells(values):",
        '    """By how much more the mean target differs between eighths of the values, or words, than by chance."""',
        "    if pd.api.types.is_numeric_dtype(values):",
        "        parts = np.floor(values.rank(pct=True) * 7.99).fillna(-1)",
        "    else:",
        "        parts = values.where(values.isin(values.value_counts().index[:8])).factorize()[0]",
        "    means = aims.groupby(np.asarray(parts)).transform('mean')",
        "    count = len(np.unique(parts))",
        "    between, within = ((means - aims.mean()) ** 2).sum(), ((aims - means) ** 2).sum()",
        "    return (between / max(1, count - 1) / (within / max(1, len(aims) - count)).clip(lower=1e-12)).max()",
        "",
        "",
        f"aims = {aims}",
        f"idle = [name for name in further if name in X and tells(X[name]) < {LEAST_TOLD}]",
        "idle = idle if len(idle) < X.shape[1] else []  # nothing would be left to learn from",
        "X, X_test = X.drop(columns=idle), X_test.drop(columns=idle)",
        'print("columns of further tables that tell nothing by themselves:", len(idle), "of", len(further))',
    ]


def _join(table: SideTable, dates: Sequence[tuple[str, str]]) -> list[str]:
    found = [f"# {table.about}"]
    if table.in_pieces:
        return [*found, *_summed(table, "told, keys", "(train, test)"), *_joined(table, dates)]
    more = [*table.links, *(mine for inner in table.inner for mine, *_ in inner.by)]
    found += _named(table, "there, keys", "(train, test)", more)
    if table.links:
        found += [f"train, test = linked(there, keys, {list(table.links)!r})"]
    if table.inner:
        found += [f"numbers, words = {list(table.numbers)!r}, {list(table.words)!r}"]
    for inner in table.inner:
        if inner.in_pieces:
            found += _summed(inner, "told, (keys_within,)", "(there,)")
        else:
            found += _named(inner, "within, (keys_within,)", "(there,)", ())
            found += [f"told = {_told(inner, 'within', ['mean'], last=False)}"]
        found += [
            f"there, more_numbers, more_words = beside(there, told, keys_within, {inner.prefix!r})",
            "numbers, words = [*numbers, *more_numbers], [*words, *more_words]",
        ]
    found.append(f"told = {_told(table, 'there', list(table.ways), last=table.tells_last)}")
    return [*found, *_joined(table, dates)]


def _joined(table: SideTable, dates: Sequence[tuple[str, str]]) -> list[str]:
    """Joins what is told; of several rows also how many they are where there are none, and the days since the last."""
    found = [f"rows, test_rows = joined(told, keys, {table.prefix!r})"]
    if table.one:
        return found
    count = f"{table.prefix}rows"
    found += [
        "for table, known in ((train, rows), (test, test_rows)):",
        f"    if {count!r} in known:",
        f"        known[{count!r}] = known[{count!r}].fillna(0)",
    ]
    of_keys = {mine for mine, *_ in table.by}
    for ours, form in [pair for pair in dates if pair[0] not in of_keys][:1]:
        last = [f"{table.prefix}{name}_last" for name, _ in table.dates]
        found += [
            f"    for name in {last!r}:",
            "        if name in known:",
            f'            known[f"{{name}}_since"] = days(when(table[{ours!r}], {form!r})) - known[name]',
        ]
    return found


def _summed(table: SideTable, left: str, ours: str) -> list[str]:
    """Reads a table's rows and sums them up, piece by piece."""
    how = "".join(f", {name}={value!r}" for name, value in table.how.items())
    parts = f"numbers={list(table.numbers)!r}, words={list(table.words)!r}, dates={list(table.dates)!r}"
    ways = ["mean"] if ours == "(there,)" else list(table.ways)
    file = f"input/{table.file}"
    return [f"by = {list(table.by)!r}", f"{left} = summed({file!r}, by, {ours}, {parts}, ways={ways!r}{how})"]


def _named(table: SideTable, left: str, ours: str, more: Sequence[str]) -> list[str]:
    """Reads a table's rows. `more` are further columns that are needed."""
    columns = dict.fromkeys([*table.numbers, *table.words, *(name for name, _ in table.dates), *more])
    how = "".join(f", {name}={value!r}" for name, value in table.how.items())
    file = f"input/{table.file}"
    return [f"by = {list(table.by)!r}", f"{left} = named({file!r}, by, {[*columns]!r}, {ours}{how})"]


def _told(table: SideTable, rows: str, ways: list[str], *, last: bool) -> str:
    """The expression of what its rows tell."""
    numbers, words = ("numbers", "words") if table.inner else (repr(list(table.numbers)), repr(list(table.words)))
    parts = f"numbers={numbers}, words={words}, dates={list(table.dates)!r}"
    return f"of_one({rows}, {parts})" if table.one else f"of_many({rows}, {parts}, ways={ways!r}, last={last})"
