"""Works on scripts of any origin (a model's, the user's): tunes a number, blends, joins, lightens, mends."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Mapping
from typing import Any

from problems.competition.rules import drafts, script
from problems.competition.rules.facts import Facts
from problems.competition.rules.recipe import MARK
from utils.syntax import is_movable, parse, source_lines, with_texts, without_future

TUNED: dict[str, tuple[float, ...]] = {
    "learning_rate": (0.5, 0.7, 1.4), "n_estimators": (0.7, 1.5, 2.0), "max_iter": (0.7, 1.5, 2.0), "alpha": (0.3, 3.0),
    "C": (0.3, 3.0), "max_depth": (0.7, 1.4), "max_leaf_nodes": (0.5, 2.0), "min_samples_leaf": (0.5, 2.0),
    "n_neighbors": (0.6, 1.6), "subsample": (0.8, 1.2), "max_features": (0.7, 1.3), "gamma": (0.5, 2.0),
}  # fmt: skip
"""Keyword → factors to try."""
COUNTS = ("n_estimators", "max_iter", "num_boost_round", "iterations", "n_iter", "epochs", "n_splits", "cv")
FRACTIONS = ("subsample", "max_features")
JOIN = "# [SECTION: BLEND]"


def improve(code: str, facts: Facts, rng: random.Random) -> tuple[str, str]:
    """Change one number of an estimator, or blend the script's submission with that of another family."""
    tuned = tune(code, rng) if rng.random() < 0.5 or not facts.averages or JOIN in code else None
    return tuned or blend(code, facts, rng)


def tune(code: str, rng: random.Random) -> tuple[str, str] | None:
    """Scale one known keyword argument of a call, in place; None if there is none."""
    found = _numbers(code, tuple(TUNED))
    if not found:
        return None
    name, node = rng.choice(found)
    value: Any = node.value  # a number: `_numbers` finds no other constants
    scaled = value * rng.choice(TUNED[name])
    new: Any = max(1, round(scaled)) if isinstance(value, int) else float(f"{scaled:.3g}")
    if name in FRACTIONS and isinstance(value, float):
        new = min(1.0, new)
    if new == value:
        return None
    return f"Set {name} to {new} (was {value}).", with_texts(code, [(node, repr(new))])


def blend(code: str, facts: Facts, rng: random.Random) -> tuple[str, str]:
    """Keep the script and average its submission with that of a drafted one; labels cannot be averaged: draft anew."""
    made, plan = drafts.draft(facts, rng)
    if not facts.averages or JOIN in code:
        return plan, script.render(made, facts)
    return f"Keep the parent and blend it with another model. {plan}", _joined(code, script.render(made, facts), facts)


def join(first: Mapping[str, Any], second: Mapping[str, Any], facts: Facts, rng: random.Random) -> tuple[str, str]:
    """Both parents' scripts one after the other; their submissions averaged."""
    codes = str(first.get("code", "")), str(second.get("code", ""))
    if not facts.averages or any(JOIN in code for code in codes):
        return improve(codes[0], facts, rng)  # labels have no mean; blends of blends only grow
    return "Run both parents and average their submissions.", _joined(*codes, facts)


def lighten(code: str) -> str:
    """Fewer rounds and one process."""
    changes_ = [
        (node, str(max(1, node.value // 3))) for _, node in _numbers(code, COUNTS) if isinstance(node.value, int)
    ]
    lighter = with_texts(code, changes_)
    return re.sub(r"n_jobs\s*=\s*-?\d+", "n_jobs=1", lighter)


def mend(code: str, failure: str, said: str, facts: Facts) -> tuple[str, str] | None:
    """A remedy for a known message, or None."""
    if "contains NaN" in said or "missing values" in said or failure == "non_finite":
        return "Fill missing values after reading.", _after_reading(code, _FILL)
    if re.search(r"could not convert string to float", said):
        return "Turn words into codes after reading.", _after_reading(code, _CODES)
    missing = re.search(r"No module named '(\w+)'", said) or re.search(r"cannot import name '(\w+)'", said)
    if missing:
        kept = [line for line in source_lines(code) if not re.match(rf"\s*(from|import)\s+{missing[1]}\b", line)]
        if missing[1] not in "\n".join(kept):
            return f"Leave out the import of {missing[1]}, which is not used.", "\n".join(kept) + "\n"
        return None
    if failure == "no_submission" or "Cannot save file into a non-existent directory" in said:
        mended = _hand_in(code)
        return ("Write the predictions to submission/submission.csv.", mended) if mended != code else None
    if failure == "bad_submission":
        return "Bring the submission into the form of the sample.", code.rstrip() + "\n\n" + _FORM.format(key=facts.key)
    return None


def _numbers(code: str, names: tuple[str, ...]) -> list[tuple[str, ast.Constant]]:
    try:
        tree = parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found = []
    for call in ast.walk(tree):
        for keyword in call.keywords if isinstance(call, ast.Call) else ():
            value = keyword.value
            if keyword.arg in names and isinstance(value, ast.Constant) and is_movable(value.value):
                found.append((str(keyword.arg), value))
    return found


def _joined(first: str, second: str, facts: Facts) -> str:
    futures, scripts = zip(*(without_future(_without_recipe(code)) for code in (first, second)), strict=True)
    head = "\n".join(part for part in futures if part)
    joined = _JOIN.format(
        first=scripts[0].strip(), join=JOIN, second=scripts[1].strip(), key=facts.key, targets=list(facts.targets)
    )
    return f"{head}\n{joined}".lstrip()


def _without_recipe(code: str) -> str:
    """Without our recipe line, which would no longer be true."""
    code = code.strip()
    return code.partition("\n")[2] if code.startswith(MARK) else code


def _after_reading(code: str, lines: str) -> str:
    """`pd.read_csv` replaced by one that cleans what it read."""
    cleaned = re.sub(r"\b(?:pd|pandas)\.read_csv\(", "read_clean(", code)
    return _headed(f"import pandas as pd\n{lines}\n", cleaned)


def _headed(head: str, code: str) -> str:
    """`head` before the script, below what must stand first in a file."""
    first, rest = without_future(code)
    return (f"{first}\n" if first else "") + head + rest.rstrip("\n") + "\n"


def _hand_in(code: str) -> str:
    start = 'import os\nos.makedirs("submission", exist_ok=True)\n'
    moved = re.sub(r"""to_csv\(\s*(f?)(["'])(?!submission/)[^"']*?submission[^"']*?\.csv\2""",
                   r"to_csv(\g<2>submission/submission.csv\2", code)  # fmt: skip
    return moved if start in moved else _headed(start, moved)


_FILL = '''

def read_clean(*args, **kwargs):
    """read_csv without missing values."""
    frame = pd.read_csv(*args, **kwargs)
    for name in frame:
        if frame[name].isna().any():
            numeric = pd.api.types.is_numeric_dtype(frame[name])
            frame[name] = frame[name].fillna(frame[name].median() if numeric else "missing")
    return frame

'''
_CODES = '''
import zlib


def read_clean(*args, **kwargs):
    """read_csv with words as numbers, the same in every file."""
    frame = pd.read_csv(*args, **kwargs)
    for name in frame:
        if not pd.api.types.is_numeric_dtype(frame[name]):
            frame[name] = frame[name].map(lambda word: zlib.crc32(str(word).encode()) % 9973)
    return frame

'''
_FORM = """import numpy as np
import pandas as pd

form, mine = pd.read_csv("input/sample_submission.csv"), pd.read_csv("submission/submission.csv")
columns = [name for name in form if name in mine]
if {key!r} in columns:
    mine = mine.drop_duplicates({key!r}).set_index({key!r}).reindex(form[{key!r}]).reset_index()
for name in form.columns[1:]:
    values = mine[name] if name in columns else mine.iloc[:, -1]
    if pd.api.types.is_numeric_dtype(form[name]):
        values = pd.to_numeric(values, errors="coerce").replace([np.inf, -np.inf], np.nan)
        values = values.clip(lower=0) if (form[name] >= 0).all() else values
    values = values.reset_index(drop=True).reindex(range(len(form)))
    form[name] = values.where(values.notna(), form[name])
form.to_csv("submission/submission.csv", index=False)
"""
_JOIN = """
{first}

{join}
import pandas as pd

first_submission = pd.read_csv("submission/submission.csv").set_index({key!r})

{second}

second_submission = pd.read_csv("submission/submission.csv").set_index({key!r}).reindex(first_submission.index)
for target in {targets!r}:
    first_submission[target] = (first_submission[target] + second_submission[target]) / 2
first_submission.reset_index().to_csv("submission/submission.csv", index=False)
print("blended two submissions of", len(first_submission), "rows")
"""
