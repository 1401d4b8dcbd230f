"""The user's own data: hidden parts are carved from `train.csv`, so that a score is ours and not the program's.

The public test is the hidden rows plus the user's own test rows, told apart by nothing that a program sees. Only hidden
rows are scored; the user's rows are what the exported submission holds.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from . import parts, validate
from .tables import Unusable, first_line, read_table

HIDDEN = 0.3
"""Fraction of the labelled rows that is hidden: half for validation, half for the final score."""
MIN_ROWS = 40
MANY_CLASSES = 20
"""So many classes may be there however few the rows are."""
LABELLED = ("train.csv", "test.csv", "sample_submission.csv")
MOST_NAMES = 5
"""Columns that a note lists."""
ROW_ID = "row_id"
ID_NAMES = ("id", "index", "row_id", "uid", "uuid", "key")


def prepare_own(request: dict[str, Any], out: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Write `public/` and `private/`; return the exam and the meta of the competition."""
    folder, target = Path(request["folder"]), request.get("target")
    public, private = out / "public", out / "private"
    private.mkdir()
    if not target:
        return _claims_only(folder, public, request)
    public.mkdir()
    train = _read(folder / "train.csv")
    labelled = _labelled(train, target, folder)
    theirs = _read(folder / "test.csv") if (folder / "test.csv").is_file() else labelled.iloc[:0]
    theirs = theirs.drop(columns=target, errors="ignore")
    if len(labelled.columns) == 1:
        raise Unusable(f"data.target={target}: train.csv has no other column to predict it from")
    if len(theirs) and not set(theirs) & set(labelled):
        raise Unusable(f"data.dir: test.csv shares no column with train.csv; it has {', '.join(theirs)[:200]}")
    labels = _check_target(labelled[target], request)
    note = "; ".join(_surprises(train, labelled, theirs, target, folder))
    labelled, theirs, key = _with_ids(labelled, theirs, folder)
    hidden, how, column = _hidden_rows(labelled, target, request)
    shown, answers = labelled[~hidden], labelled[hidden]
    split = parts.split_hidden(
        answers, [target], how=how, seed=request["seed"],
        order=_as_time(answers[column]) if how == "time" else None,
        groups=answers[column] if how == "group" else None,
    )  # fmt: skip
    test = pd.concat([answers.drop(columns=target), theirs[[c for c in theirs if c in labelled]]], ignore_index=True)
    if how != "time":
        test = test.sample(frac=1, random_state=request["seed"])
    _write(public, private, shown, test, answers[[key, target]], theirs, key, target, request["task"])
    _copy_rest(folder, public, request, but=LABELLED)
    exam = {
        "answers": "private/answers.csv", "sample": "public/sample_submission.csv", "id": key, "targets": [target],
        "strict": True, "labels": labels, "metric": request["metric"], "grade": None, "parts": split,
    }  # fmt: skip
    return exam, {"public": "public", "note": note, "id": key, "targets": [target], "user_rows": len(theirs) > 0}


def _surprises(train: Any, labelled: Any, theirs: Any, target: str, folder: Path) -> Iterator[str]:
    """What is not as the user may think, and what then holds."""
    if len(labelled) < len(train):
        yield f"{len(train) - len(labelled)} rows without {target} are left out"
    if len(theirs):
        missing = [str(name) for name in labelled if name not in theirs and name != target]
        new = [str(name) for name in theirs if name not in labelled]
        if missing:
            yield f"test.csv has no column {_listed(missing)}: empty in its rows"
        if new:
            yield f"train.csv has no column {_listed(new)}: left out of test.csv"
    sample = folder / "sample_submission.csv"
    names = [str(name) for name in _read(sample).columns] if sample.is_file() else []
    if names and target not in names:
        yield f"sample_submission.csv has no column {target}, but {_listed(names)}: data.target={target} is predicted"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _claims_only(folder: Path, public: Path, request: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Nothing is hidden: the program's own words about its score are all there is."""
    _copy_rest(folder, public, request)
    note = "no target and metric are given: scores are the programs' claims"
    return (
        {"targets": [], "parts": None},
        {"public": "public", "note": note, "id": None, "targets": [], "user_rows": True},
    )


def _read(path: Path) -> Any:
    try:
        table = read_table(path)
    except UnicodeDecodeError as error:
        raise Unusable(f"data.dir: '{path}' is not UTF-8 text (byte {error.start}); save it as UTF-8") from error
    except Exception as error:  # the user's file
        raise Unusable(f"data.dir: '{path}' is not a CSV table: {first_line(error)}") from error
    mark = next((mark for mark in ";\t|" if len(table.columns) == 1 and mark in str(table.columns[0])), None)
    if mark:
        raise Unusable(f"data.dir: '{path}' separates its columns by {mark!r}; save it with commas")
    return table


def _labelled(train: Any, target: str, folder: Path) -> Any:
    if target not in train.columns:
        names = ", ".join(map(str, train.columns[:12]))
        raise Unusable(f"data.target={target}: no such column in '{folder / 'train.csv'}'; columns are {names}")
    labelled = train[train[target].notna()].reset_index(drop=True)
    if len(labelled) < MIN_ROWS:
        raise Unusable(f"data.target={target}: {len(labelled)} rows have a label; at least {MIN_ROWS} are needed")
    return labelled


def _check_target(values: Any, request: dict[str, Any]) -> bool:
    """True if the metric compares labels. Refuses a metric that does not fit the target."""
    metric, task, classes = request["metric"], request["task"], values.nunique()
    given = f"data.metric={metric}"
    if classes < 2:
        raise Unusable(f"data.target={values.name}: all labels are equal")
    if task == "regression":
        if not pd.api.types.is_numeric_dtype(values):
            raise Unusable(
                f"{given} needs a column of numbers; '{values.name}' holds text such as {values.iloc[0]!r:.40}"
            )
        if np.isinf(values).any():
            raise Unusable(f"data.target={values.name}: {int(np.isinf(values).sum())} labels are infinite")
        if metric == "rmsle" and values.min() < 0:
            raise Unusable(f"{given} needs labels of at least 0; '{values.name}' goes down to {values.min():g}")
    elif classes != 2 and (task == "probability" or metric == "f1"):
        raise Unusable(f"{given} needs two classes; '{values.name}' has {classes}")
    elif classes > max(MANY_CLASSES, len(values) / 2):
        raise Unusable(f"{given} compares classes; '{values.name}' has {classes} values in {len(values)} rows")
    return bool(task == "labels")


def _with_ids(labelled: Any, theirs: Any, folder: Path) -> tuple[Any, Any, str]:
    """A column that names each row once: one of the user's, or a new one. `_own` and `_name` keep the user's names.

    Ids that begin anew in test.csv need a new column in front of a program; the user's rows keep theirs.
    """
    called = _id_candidates(labelled, theirs, folder)
    for name in called:
        both = pd.concat([validate.as_keys(table[name]) for table in (labelled, theirs) if name in table])
        if both.notna().all() and both.is_unique:
            return labelled, theirs.assign(_own=theirs.get(name), _name=name), name
    key = ROW_ID if ROW_ID not in labelled.columns else "swarm_row_id"
    count, own, name = len(labelled), pd.Series(range(len(theirs))), "row"
    for column in [c for c in (*called, theirs.columns[0]) if c in theirs]:
        names = validate.as_keys(theirs[column])
        counted = not pd.api.types.is_float_dtype(theirs[column])  # a measure names no row
        if counted and names.notna().all() and names.is_unique:
            own, name = names, column
            break
    labelled, theirs = labelled.copy(), theirs.assign(_own=own.to_numpy(), _name=name)
    labelled.insert(0, key, range(count))
    theirs.insert(0, key, range(count, count + len(theirs)))
    return labelled, theirs, key


def _id_candidates(labelled: Any, theirs: Any, folder: Path) -> list[str]:
    """Columns that may name rows: the first of the user's sample submission, then those called like an id."""
    sample = folder / "sample_submission.csv"
    first = [str(_read(sample).columns[0])] if sample.is_file() else []
    named = [str(n) for n in labelled.columns if str(n).lower() in ID_NAMES or str(n).lower().endswith("_id")]
    return [n for n in (*first, *named) if n in labelled.columns and (n in theirs.columns or not len(theirs))]


def _hidden_rows(labelled: Any, target: str, request: dict[str, Any]) -> tuple[Any, str, str]:
    """Which rows are hidden, as `data.split` says."""
    how, _, column = request["split"].partition(":")
    if column and column not in labelled.columns:
        raise Unusable(f"data.split={request['split']}: no such column '{column}' in train.csv")
    random, count = np.random.default_rng(request["seed"]), len(labelled)
    wanted = max(16, round(count * HIDDEN))
    if how == "time":
        order = np.argsort(_as_time(labelled[column]), kind="stable")
        chosen = order[-wanted:]
    elif how == "group":
        chosen = _whole_groups(labelled[column].astype(str), wanted, random, request)
    else:
        chosen = (
            _strata(labelled[target], wanted, random) if how == "stratified" else random.permutation(count)[:wanted]
        )
    mask = np.zeros(count, bool)
    mask[chosen] = True
    return mask, how, column


def _strata(values: Any, wanted: int, random: Any) -> Any:
    """Evenly spaced rows of the target's order, ties shuffled: each class keeps its share."""
    shuffled = random.permutation(len(values))
    codes = pd.factorize(values.iloc[shuffled], sort=True)[0]
    ordered = shuffled[np.argsort(codes, kind="stable")]
    return ordered[np.linspace(0, len(values) - 1, wanted).round().astype(int)]


def _whole_groups(groups: Any, wanted: int, random: Any, request: dict[str, Any]) -> Any:
    names = groups.unique().tolist()
    if len(names) < 4:
        raise Unusable(f"data.split={request['split']}: {len(names)} groups; at least 4 are needed")
    random.shuffle(names)
    chosen, total = set(names[:2]), int(groups.isin(names[:2]).sum())
    for name in names[2:-1]:
        if total >= wanted:
            break
        chosen.add(name)
        total += int((groups == name).sum())
    return np.flatnonzero(groups.isin(chosen))


def _as_time(values: Any) -> Any:
    """Numbers that grow with time: a numeric column as it is, text parsed as dates."""
    if pd.api.types.is_numeric_dtype(values):
        return values.to_numpy(float)
    times = pd.to_datetime(values, errors="coerce", format="mixed")
    if times.isna().mean() > 0.1:
        raise Unusable(
            f"data.split=time:{values.name}: the column is neither numbers nor dates ({values.iloc[0]!r:.40})"
        )
    return times.astype("int64").to_numpy()


def _write(
    public: Path, private: Path, shown: Any, test: Any, answers: Any, theirs: Any, key: str, target: str, task: str
) -> None:
    shown.to_csv(public / "train.csv", index=False)
    test.to_csv(public / "test.csv", index=False)
    values = shown[target]
    neutral = {"labels": values.mode().iloc[0], "probability": 0.5}.get(task)
    sample = test[[key]].assign(**{target: values.mean() if neutral is None else neutral})
    sample.to_csv(public / "sample_submission.csv", index=False)
    answers.to_csv(private / "answers.csv", index=False)
    own = dict(zip(map(str, validate.as_keys(theirs[key])), theirs["_own"], strict=True))
    name = str(theirs["_name"].iloc[0]) if len(theirs) else key
    text = json.dumps({"key": key, "column": name, "rows": own}, default=str)
    (private / "user_rows.json").write_text(text, encoding="utf-8")


def _copy_rest(folder: Path, public: Path, request: dict[str, Any], but: tuple[str, ...] = ()) -> None:
    """Further files of the user (images, extra tables) go along.

    Hidden files do not, nor `but` at the top, nor what we ourselves keep inside the folder (`skip`): the prepared
    competitions, with their labels, lie there if the user's data are in the folder that he works in.
    """
    barred = {folder / name for name in (*but, *request["skip"])}

    def ignore(place: str, names: list[str]) -> set[str]:
        return {name for name in names if name.startswith(".") or Path(place, name) in barred}

    try:
        shutil.copytree(folder, public, ignore=ignore, ignore_dangling_symlinks=True, dirs_exist_ok=True)
    except OSError as error:
        raise Unusable(f"data.dir={folder}: cannot copy its files: {str(error)[:300]}") from error
