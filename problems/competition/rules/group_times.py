"""What the rows before and after a row tell, in a group that runs in time, such as a storm or a person: lines of the
FEATURES section.

Only where the split lets them be known: rows to predict that lie behind all others, or in groups of their own, have no
such rows, and then nothing is told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from problems.competition.rules.facts import Facts
from problems.competition.rules.group_rows import left
from problems.competition.rules.made_names import before

ALONG = "columns whose groups run in time:"
"""What a program says before their number."""
LEAST = 0.3
"""Correlation of what a first model leaves of the target with what it leaves of the rows before and after."""
MOST, STAMPS = 2, 4
"""Groups that are told, and times that are tried for each."""
KNOWN, TIED = 0.1, 0.5
"""By how much fewer of the rows to predict may have such rows, and part of the rows from which on equal times are no
order."""
PARTS = {"year": 372.0, "month": 31.0, "day": 1.0, "hour": 1 / 24, "minute": 1 / 1440}
"""Days that a part of a time stands for, about: to order by."""
_SHORT = {"yr": "year", "mon": "month", "mo": "month", "mnth": "month", "hr": "hour", "min": "minute"}
_TIME = re.compile(
    r"(?i)(?:.*[\W_])?(?:year|yr|quarter|qtr|month|week|day|hour|minute|second|time|date|period|wave|season|age|grade|step"
    r"|visit|round|t)s?(?:[\W_]?(?:num|number|id|block|no|nr|in_bucket))*"
)
"""What a column of numbers that grow with time is called."""


def stamps(facts: Facts, dates: Mapping[str, str]) -> dict[str, str]:
    """Names and expressions of numbers in a `table` that may be times.

    Args:
        dates: expressions of the times of dates.
    """
    found = {name: f"({when} - pd.Timestamp(0)) / pd.Timedelta('1D')" for name, when in dates.items()}
    words: dict[str, list[str]] = {}
    for name in facts.numbers:
        word = name.lower()
        words.setdefault(_SHORT.get(word, word), []).append(name)
    parts = {part: words[part][0] for part in PARTS if len(words.get(part, ())) == 1}
    if len(parts) > 1:
        terms = [f"{PARTS[part]!r} * table[{name!r}]" for part, name in parts.items()]
        found["_".join(parts)] = " + ".join(terms)
    single = [name for name in facts.numbers if _TIME.fullmatch(name) and name not in parts.values()]
    single = [*parts.values(), *single] if len(parts) == 1 else single
    found |= {name: f"table[{name!r}]" for name in single if name not in found}
    return dict([*found.items()][:STAMPS])


def along(facts: Facts, times: Mapping[str, str], *, has_left: bool) -> list[str]:
    """The target before and after, how long that is away, and what lies between; of the groups where it tells most.

    Args:
        times: names and expressions of what may be times.
        has_left: what a first model leaves of the target is known already.
    """
    lines = [
        "# rows of a group before and after a row, such as hours of a storm: their target, and how far they are",
        "def stamps(table):",
        '    """What may order the rows of a group."""',
        "    return {",
        *(f"        {name!r}: {number}," for name, number in times.items()),
        "    }",
        "",
        "",
        *([] if has_left else left()),
        "def beside(code, time, known):",
        '    """Of each row what is known of the rows before and after it."""',
        '    line = pd.DataFrame({"code": code, "time": time, "known": known})',
        '    line = line.sort_values(["code", "time"], kind="stable")',
        '    line["at"] = line["time"].where(line["known"].notna())',
        '    by, told = line["code"], line[["known", "at"]]',
        "    past = told.groupby(by).shift(1).groupby(by).ffill()",
        "    future = told.groupby(by).shift(-1).groupby(by).bfill()",
        '    since, until = line["time"] - past["at"], future["at"] - line["time"]',
        '    part = (until / (since + until)).fillna(0.5)',
        '    between = past["known"] * part + future["known"] * (1 - part)',
        '    between = between.fillna(past["known"]).fillna(future["known"])',
        '    found = {"before": past["known"], "after": future["known"], "since": since, "until": until}',
        '    return pd.DataFrame({**found, "between": between}).sort_index()',
        "",
        "",
        "behind = np.full(len(X_test), np.nan)",
        "ordered, ordered_test, groups_test = stamps(rows), stamps(test_rows), groups(test_rows)",
        "told = {}",
        "for name, key in groups(rows).items():",
        "    code = pd.factorize(pd.concat([key, groups_test[name]]))[0]",
        "    for stamp, time in ordered.items():",
        "        time = pd.concat([time, ordered_test[stamp]]).to_numpy(float)",
        "        found = beside(code, time, np.concatenate([left, behind]))",
        "        mine, theirs = found[: len(X)], found[len(X) :]",
        "        # the split lets them be known",
        f"        known = theirs.notna().mean().sub(mine.notna().mean()).min() > -{KNOWN}",
        '        tied = ((mine["since"] == 0) | (mine["until"] == 0)).mean()',
        '        there = mine["between"].notna().to_numpy()',
        f"        if known and tied < {TIED} and there.mean() > {TIED}:",
        '            worth = np.nan_to_num(np.corrcoef(mine["between"][there], left[there])[0, 1])',
        "            told[worth] = name, beside(code, time, np.concatenate([aim, behind]))",
        "best = {}",
        "for worth in sorted(told, reverse=True):",
        f"    if worth > {LEAST} and len(best) < {MOST}:",
        "        best.setdefault(*told[worth])",
        "for name, found in best.items():",
        "    for what in found:",
        f"        X[{before(facts)}name + \"_\" + what] = found[what].to_numpy()[: len(X)]",
        f"        X_test[{before(facts)}name + \"_\" + what] = found[what].to_numpy()[len(X) :]",
        f'print("{ALONG}", len(best))',
    ]  # fmt: skip
    return lines
