"""The user's own data: hidden parts are carved from the training table, so that a score is ours and not the program's.

The public test is the hidden rows plus the user's own test rows, told apart by nothing that a program sees. Only hidden
rows are scored; the user's rows are what the exported submission holds.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .grade import Judge
from .leaks.belongings import copy_rest
from .leaks.hidden_labels import HiddenLabels
from .leaks.leaks import copies, find_leaks
from .leaks.other_rows import told_elsewhere
from .leaks.totals import row_of_totals
from .own_data.further_forms import write_plain
from .own_data.further_parts import Joined, join_further
from .own_data.hidden_rows import groups_of, hidden_rows, known_classes, of_size, parted, rare_class, same_time
from .own_data.own_goal import own_goal
from .own_data.own_tables import OwnTables, read_own
from .own_data.second_table import further_tables
from .own_data.secret_draws import secret_draws
from .own_data.sides import Sides, part_rows, telling_features
from .own_data.surprises import surprises
from .own_data.targets import Goal, classes_read, fractions_as_classes, goal_of
from .own_data.user_rows import outputs_of, write_user_rows
from .row_ids import begun_anew, with_ids
from .scoring import parts
from .tables.columns import listed
from .tables.counts import counted
from .tables.csv_text import write_csv
from .tables.exact import Unusable, read_table
from .tables.keys import as_keys
from .tables.table_sample import TableSample, as_programs_read, samples_of
from .tables.times import as_time
from .tables.with_columns import with_columns

FEWEST_HIDDEN = 4
MOST_CLASSES = 1000
"""Of a target, that submissions are compared with."""
_PLAIN_PAIRS = (("0", "1"), ("0.0", "1.0"), ("-1", "1"), ("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t"))
"""Two classes of which everybody takes the second for the positive one."""


def prepare_own(
    request: dict[str, Any], out: Path, tell: Callable[[str], None]
) -> tuple[dict[str, Any], dict[str, Any], dict[str, TableSample | None]]:
    """Write `public/` and `private/`; return the exam, the meta and the tables of the competition, None for one that is
    best read from its file, once what is held here is let go of.

    Args:
        tell: is told what takes long.
    """
    public, private = out / "public", out / "private"
    private.mkdir()
    if not request.get("target"):
        return _claims_only(public, request, tell)
    public.mkdir()
    tables = read_own(request, tell)
    tables.notes += surprises(tables, request)
    targets, goal = tables.targets, goal_of(tables.labelled, tables.targets, request, own_goal(tables, request))
    tables.labelled = _as_classes(tables.labelled, targets, goal)
    theirs, key, names = with_ids(tables, request["seed"], request.get("key"))
    invented = key not in tables.train.kinds
    features = telling_features(tables, key)
    hidden, how, column = hidden_rows(tables, request, features, goal)
    hidden, foreign = known_classes(tables.labelled, hidden, targets, goal)
    shown = tables.labelled[~hidden & ~foreign]
    _refuse_one_sided(shown, int(hidden.sum()), targets, request)
    sides = part_rows(tables, hidden, shown.index, public / "train.csv", key, features)
    answers, draws = sides.hidden, secret_draws(sides, request["seed"])
    if invented:
        numbers = draws.permutation(np.concatenate([answers[key], theirs[key]]))
        answers = with_columns(answers, {key: numbers[: len(answers)]})
        theirs = with_columns(theirs, {key: numbers[len(answers) :]})
    known_then = {key, *tables.features}
    there = [name for name in answers if name in known_then]
    known = replace(sides, shown=sides.shown[[*there, *targets]])
    tell("rows that are equal, and columns that tell the target, are looked for")
    copied = copies(known, targets, key)
    cautions = [*fractions_as_classes(shown, targets, request["metric"] or "", goal)]
    cautions += [*find_leaks(known, targets, key, copied), *row_of_totals(tables)]
    times = as_time(tables.column(column)) if how == "time" else None
    order = None if times is None else pd.Series(times, tables.labelled.index)
    cautions += _told_elsewhere(sides, [name for name in there if name != key], targets, order)
    if times is not None:
        cautions += same_time(times, hidden, column)
    notes = [*tables.notes, *of_size(tables, int(hidden.sum()), request), *cautions]
    notes += _positive_class(shown, targets, goal, request)
    if foreign.any():
        what = "row of a class that training would not have is", "rows of classes that training would not have are"
        notes.append(f"{counted(int(foreign.sum()), *what)} left out")
    by = {
        "order": as_time(answers[column], tables.column(column)) if how == "time" else None,
        "groups": groups_of(answers[column]) if how == "group" else sides.equal,
    }
    split = parts.split_hidden(answers, targets, how=how, seed=request["seed"], **by)
    notes += rare_class(answers, split, targets, goal, how)
    test = _test(answers[there], theirs[[name for name in there if name in theirs]], draws, times, hidden)
    columns = sorted(map(str, shown[targets[0]].unique())) if goal.task == "classes" else targets
    if key in columns:
        raise Unusable(
            f"data.target={targets[0]}: a class is called {key}, as the column is that names rows; rename one"
        )
    tell(f"test.csv is written: {counted(len(test), 'row', form=',')}")
    write_csv(test, public / "test.csv")
    write_csv(_sample(test[[key]], shown, targets, columns, goal), public / "sample_submission.csv")
    lacking = [name for name in tables.others if name not in there]
    kept = dict.fromkeys([key, *targets, *filter(None, [goal.group]), *goal.beside, *lacking])
    write_csv(answers[list(kept)], private / "answers.csv")
    outputs = outputs_of(tables, shown, columns, goal, request["metric"] or "")
    beside = further_tables(request)
    notes += write_user_rows(private / "user_rows.json", tables, names, outputs, theirs[key], goal, beside)
    notes += _go_along(tables.used, public, lambda: _labels_of(sides, tables, key if invented else None), request, tell)
    tell("further files are told apart: parts of one table, files of a row each")
    names_of_rows = {} if invented else {key: as_keys(pd.concat([sides.shown[key], answers[key], theirs[key]]))}
    plain, joined_up = dict[str, list[str]](), Joined([], [], [])
    if not request.get("alone"):
        plain = write_plain(public)
        joined_up = join_further(public, names_of_rows, tables.columns, begun_anew(tables))
    notes += [f"{name} is read as {listed(written)}" for name, written in plain.items()] + joined_up.notes
    exam = {
        "answers": "private/answers.csv", "sample": "public/sample_submission.csv", "id": key, "targets": columns,
        "truth": targets, "strict": True, "labels": goal.labels, "metric": request["metric"], "task": goal.task,
        "function": _asked(request, goal), "group": goal.group, "grade": None, "parts": split,
        "how": how, "places": parts.places_of(how, **by), **_of_classes(classes_read(shown, targets, goal)),
    }  # fmt: skip
    _refuse_unscorable(exam, out, request)
    meta = {
        "public": "public", "note": "; ".join(notes), "id": key, "targets": columns, "user_rows": len(theirs) > 0,
        "task": goal.task, "invented": key if invented else None, "cautions": cautions,
        "copied": any(copied.values()), "read_as": plain, "joined_tables": joined_up.names, "parts": joined_up.parts,
        "parted": parted(tables, how, column, times, ~hidden & ~foreign, hidden),
    }  # fmt: skip
    all_of_it = len(sides.shown) == sides.count
    learned = None if all_of_it else as_programs_read(sides.shown, sides.count)
    return exam, meta, {"train": learned, "test": TableSample(test, len(test))}


def _test(hidden: Any, theirs: Any, draws: Any, times: Any, mask: Any) -> Any:
    """The rows to predict in an order that tells nothing: drawn, or, of a split by time, that of time, where those of
    the same time are drawn and the user's stand behind.

    Args:
        times: of each labelled row, or None.
        mask: which of these are hidden.
    """
    if times is None:
        return pd.concat([hidden, theirs], ignore_index=True).sample(frac=1, random_state=draws)
    order = draws.permutation(len(hidden))
    order = order[np.argsort(times[mask][order], kind="stable")]
    return pd.concat([hidden.iloc[order], theirs], ignore_index=True)


def _told_elsewhere(sides: Sides, columns: list[str], targets: list[str], order: Any) -> Iterator[str]:
    """What other rows tell of hidden ones, by the order of the file and, where there is one, that of time.

    Args:
        order: of each labelled row its time, or None.
    """
    rows = max(sides.ends, key=lambda end: end.index.isin(sides.hidden.index).sum())
    in_time = [] if order is None else [rows.loc[order[rows.index].sort_values(kind="stable").index]]
    told: dict[str, str] = {}
    for ordered in (rows, *in_time):
        hidden = ordered.index.isin(sides.hidden.index)
        for line in chain.from_iterable(told_elsewhere(ordered, columns, target, hidden) for target in targets):
            told.setdefault(line.partition(": it tells")[0], line)
    yield from told.values()


def _refuse_one_sided(shown: Any, hidden: int, targets: list[str], request: dict[str, Any]) -> None:
    """Unusable where there is nothing to learn or nothing to score: known before a search is spent."""
    said = f"data.split={request['split']}"
    if hidden < FEWEST_HIDDEN:
        raise Unusable(
            f"{said}: {counted(hidden, 'row')} could be hidden; a validation and a final part need {FEWEST_HIDDEN}"
        )
    if alike := [name for name in targets if shown[name].nunique() < 2]:
        raise Unusable(
            f"{said}: all {counted(len(shown), 'row')} to learn from have the same {alike[0]}; it takes rows of others"
        )


def _asked(request: dict[str, Any], goal: Goal) -> dict[str, Any] | None:
    """The user's function, and what it calls predictions."""
    return {**request["function"], "called": goal.called} if request.get("function") else None


def _of_classes(read: dict[str, list[Any]]) -> dict[str, Any]:
    """What the hidden rows alone do not tell: of which classes the last one counts, and whether they are words."""
    words = [name for name, classes in read.items() if any(isinstance(one, str) for one in classes)]
    few = {name: list(map(str, classes)) for name, classes in read.items() if len(classes) <= MOST_CLASSES}
    return {"counted": {name: classes[-1] for name, classes in read.items()}, "texts": words, "classes": few}


def _perfect(exam: dict[str, Any], answers: Any) -> Any:
    """The submission that nobody can better."""
    key, targets = exam["id"], exam["truth"]
    if exam["task"] == "classes":
        names = answers[targets[0]].astype(str)
        return with_columns(answers[[key]], {name: (names == name).astype(float) for name in exam["targets"]})
    if exam["task"] != "probability":
        return answers[[key, *targets]]
    ones = {name: (answers[name] == exam["counted"][name]).astype(float) for name in targets}
    return with_columns(answers[[key]], ones)


def _refuse_unscorable(exam: dict[str, Any], out: Path, request: dict[str, Any]) -> None:
    """Unusable where the metric has no value on a part, whatever a program predicts: one class only, say."""
    path = out / "private" / "perfect.csv"
    write_csv(_perfect(exam, read_table(out / exam["answers"], exam["texts"])), path)
    judge = Judge({**exam, **{name: str(out / exam[name]) for name in ("answers", "sample")}})
    for part, rows in exam["parts"].items():
        verdict = judge.grade(str(path), part, False)
        if verdict.get("undefined") or verdict.get("failure") == "non_finite":
            raise Unusable(
                f"data.metric={request['metric'] or request['function']['name']}: the {part} part, "
                f"{counted(len(rows), 'hidden row')}, cannot be scored: {verdict['message']}; "
                "more labelled rows, or another data.split, may help"
            )
    path.unlink()


def _positive_class(shown: Any, targets: list[str], goal: Goal, request: dict[str, Any]) -> Iterator[str]:
    """Which of two classes a metric counts, where their names do not say it by themselves."""
    if goal.task != "probability" and request["metric"] != "f1":
        return
    for target in targets:
        other, one = sorted(shown[target].unique()) if shown[target].nunique() == 2 else (0, 1)
        if (str(other).casefold(), str(one).casefold()) not in _PLAIN_PAIRS:
            yield (
                f"the metric counts '{one}' as 1 and '{other}' as 0, in sorted order; "
                f"the other way round: --data.classes={one},{other}"
            )


def _claims_only(
    public: Path, request: dict[str, Any], tell: Callable[[str], None]
) -> tuple[dict[str, Any], dict[str, Any], dict[str, TableSample | None]]:
    """Nothing is hidden: the program's own words about its score are all there is."""
    left = _go_along(set(), public, None, request, tell)
    if request.get("alone"):
        public.mkdir()
        for number, file in enumerate(map(Path, request["originals"])):
            to = public / file.name
            shutil.copyfile(file, public / f"{number}-{file.name}" if to.exists() else to)
    note = "; ".join(["no target and metric are given: scores are the programs' claims", *left])
    return (
        {"targets": [], "parts": None},
        {"public": "public", "note": note, "id": None, "targets": [], "user_rows": True},
        {**samples_of(train=public / "train.csv", test=public / "test.csv")},
    )


def _go_along(
    used: set[Path],
    public: Path,
    labels: Callable[[], HiddenLabels] | None,
    request: dict[str, Any],
    tell: Callable[[str], None],
) -> list[str]:
    """Copy what else lies in the user's folder; notes of what does not go along.

    Args:
        labels: what must not be told, asked for where there is a file to look into.
    """
    folder = Path(request["folder"])
    if request.get("alone"):
        return []
    own = request.get("function")
    barred = {*used, *(folder / name for name in request["skip"]), *([Path(own["file"])] if own else [])}
    beside = Path(request["beside"]) if request.get("beside") else None
    return copy_rest(folder, public, labels, barred, beside, tell).notes()


def _labels_of(sides: Sides, tables: OwnTables, invented: str | None) -> HiddenLabels:
    """What further files must not tell.

    Args:
        invented: the column of ids, where it is ours: other files may name rows by their places instead.
    """
    rows = pd.concat([sides.shown, sides.hidden]).sort_index()
    hidden = rows.index.isin(sides.hidden.index)
    rows = rows.drop(columns=[invented] if invented else [])
    labels = tables.labelled[tables.targets]
    return HiddenLabels.of(rows, hidden, tables.targets, labels, numbered=invented is not None)


def _as_classes(labelled: Any, targets: list[str], goal: Goal) -> Any:
    """Classes 1.0 and 2.0 are 1 and 2: numbers beside missing labels were read as fractions."""
    if goal.task != "classes" or not pd.api.types.is_float_dtype(labelled[targets[0]]):
        return labelled
    whole = (labelled[targets[0]] % 1 == 0).all()
    return labelled.astype({targets[0]: "int64"}) if whole else labelled


def _sample(ids: Any, shown: Any, targets: list[str], columns: list[str], goal: Goal) -> Any:
    if goal.task == "classes":
        return with_columns(ids, dict.fromkeys(columns, round(1 / len(columns), 6)))
    neutral = {
        name: shown[name].mode().iloc[0] if goal.labels else 0.5 if goal.task == "probability" else shown[name].mean()
        for name in targets
    }
    return with_columns(ids, neutral)
