"""`export-best --refit`: the input folder with every label, hidden rows moved from the test into the training table."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd

from .tables.csv_text import write_csv
from .tables.exact import Unusable, read_table
from .tables.keys import as_keys
from .tables.with_columns import with_columns


def add_labels(public: Path, out: Path, exam: dict[str, Any], mapping: Path) -> None:
    """Write `out` as `public` with all labelled rows in `train.csv`.

    Own data: `test.csv` keeps the user's rows only (`mapping` names them). A competition has no other rows than the
    hidden ones: its test stays as it is, and predictions on it are of rows that were learned.
    """
    train, test = (_table(public / f"{name}.csv") for name in ("train", "test"))
    key, targets = exam["id"], exam.get("truth") or exam["targets"]  # a column for each class is no column of labels
    texts = [name for name in (key, *targets) if name in train and not pd.api.types.is_numeric_dtype(train[name])]
    answers = read_table(exam["answers"], texts)
    lacking = [name for name in (key, *targets) if name not in train.columns or name not in answers.columns]
    if lacking or key not in test.columns:
        raise Unusable(f"export-best --refit: train.csv and the answers do not share the columns {[key, *targets]}")
    told = [name for name in answers if name in targets or (name in train and name not in test)]
    labels, keys = answers[told].set_axis(as_keys(answers[key]), axis=0), as_keys(test[key])
    is_hidden = keys.isin(labels.index).to_numpy()
    known = labels.loc[keys[is_hidden]]
    hidden = with_columns(test[is_hidden], {name: known[name].array for name in known})
    whole = pd.concat([train, hidden[[name for name in train if name in hidden]]], ignore_index=True)
    if mapping.is_file():
        theirs = set(json.loads(mapping.read_text(encoding="utf-8"))["rows"])
        mine = as_keys(test[key]).isin(theirs).to_numpy()
        test = test[mine] if mine.any() else test
    made = out.with_name(f".{out.name}")
    shutil.rmtree(made, ignore_errors=True)
    shutil.copytree(public, made, symlinks=False)
    write_csv(whole, made / "train.csv")
    write_csv(test, made / "test.csv")
    sample = read_table(exam["sample"])
    wanted = as_keys(test[key])
    kept = as_keys(sample[key]).isin(wanted).to_numpy()
    sample[kept].to_csv(made / "sample_submission.csv", index=False)
    made.rename(out)


def _table(path: Path) -> Any:
    if not path.is_file():
        raise Unusable(f"export-best --refit: the competition has no {path.name}, so its labels cannot be added")
    return read_table(path)
