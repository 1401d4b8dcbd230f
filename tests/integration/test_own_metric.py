"""A metric of the user's own is given what it asks for; one that hangs is named after a minute, not after an hour."""

from __future__ import annotations

import json
import time

import numpy as np
import pandas as pd
import pytest
from support.competition_stand import Stand, writes

from problems.competition import prepared


@pytest.mark.parametrize(
    "body",
    ["time.sleep(99)", "while True: pass", "__import__('re').match('(a+)+b', 'a' * 60)", "[0][0]\ntime.sleep(99)"],
    ids=["sleeps", "loops", "loops in C", "its file hangs"],
)
def test_it_has_a_deadline_of_its_own(cli, monkeypatch, body):
    monkeypatch.setattr(prepared, "TRY_SECONDS", 1)
    (cli.folder / "data").mkdir()
    rows = "".join(f"{n},{n % 7},{3 * n + n % 7}\n" for n in range(80))
    (cli.folder / "data" / "train.csv").write_text(f"id,a,y\n{rows}")
    metric = cli.folder / "own.py"
    metric.write_text(f"import time\ndef slow(truth, predicted):\n    return {body}\n" if "while" not in body else
                      f"def slow(truth, predicted):\n    {body}\n")  # fmt: skip
    began = time.monotonic()
    words = ["--data.target=y", f"--data.metric={metric}:slow", "--problem.direction=min", "search.max_steps=1"]
    ended = cli.here("--data.dir=data", *words, "logging.view=quiet")
    assert ended.code == 2 and not cli.runs and time.monotonic() - began < 30
    assert ended.line.endswith(f"data.metric={metric}:slow: no score within 1 s when it was tried on the labels")


FORMS = '''
import numpy as np
import pandas as pd

def weighted(truth, predicted, rows):
    return np.average(np.abs(truth - predicted), weights=rows["weight"])

def together(truth, predicted):
    assert truth.shape[1] == 2
    return np.hypot(*(truth - predicted).T).mean()

def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    """As Kaggle publishes its metrics."""
    del submission[row_id_column_name]
    wrong = (solution.pop("y") - submission["prediction"]).abs()
    return float(wrong.groupby(solution["race"]).mean().max())

def area(truth, predicted):  # of the ROC
    order = predicted.argsort().argsort()[truth == 1]
    return (order.mean() - (truth.sum() - 1) / 2) / (truth == 0).sum()

def hits(truth, predicted):
    return np.mean(truth == predicted)

def apart(truth, predicted):
    return float(np.abs(truth - predicted).mean())

apart.takes = "classes"
'''
GIVEN = {
    "columns of the rows": ("y", "weighted", "min", "regression", "weighted is given race, weight of the scored rows"),
    "several targets": ("y,z", "together", "min", "regression", "your function is given a column for each"),
    "tables": ("y", "score", "min", "regression", "solution (id, y, race, weight) and submission (id, prediction)"),
    "probabilities": ("ill", "area", "max", "probability", "area is given probabilities, since it takes fractions"),
    "probabilities of words": ("sick", "area", "max", "probability", "area is given probabilities"),
    "classes": ("ill", "hits", "max", "labels", ""),
    "numbers of few values": ("grade", "weighted", "min", "regression", "given numbers, since it takes fractions"),
    "what its file says": ("grade", "apart", "min", "labels", ""),
}  # fmt: skip


@pytest.mark.parametrize("form", GIVEN)
def test_a_function_is_given_what_it_asks_for(tmp_path, inline, form):
    """Scores are what the function says of the hidden rows, and a perfect submission has the best one."""
    target, function, better, task, told = GIVEN[form]
    draw = np.random.default_rng(0)
    table = pd.DataFrame({"id": range(300), "a": draw.normal(size=300).round(3), "race": [*"abc"] * 100})
    table["weight"] = draw.integers(1, 9, 300)
    table["y"], table["z"] = table["a"] * 3 + 1, table["a"].cumsum()
    table["ill"], table["grade"] = (table["a"] > 0.5).astype(int), pd.qcut(table["a"], 5, labels=False)
    table["sick"] = np.where(table["a"] > 0.5, "yes", "no")
    mine = tmp_path / "mine"
    mine.mkdir()
    table[:240].to_csv(mine / "train.csv", index=False)
    table[240:][["id", "a", "race"]].to_csv(mine / "test.csv", index=False)
    if "," not in target:
        table[240:][["id"]].assign(prediction=0).to_csv(mine / "sample_submission.csv", index=False)
    (tmp_path / "own.py").write_text(FORMS)
    metric = f"data.metric={tmp_path / 'own.py'}:{function}"
    stand = Stand(tmp_path, f"data.dir={mine}", f"data.target={target}", metric, f"problem.direction={better}")
    try:
        assert told in stand.problem.note and stand.problem.prompt_extras()["data"]["task"] == task
        known = table.set_index("id")[target.split(",")]
        known = known.replace({"no": 0, "yes": 1}) if target == "sick" else known
        rows = ", ".join(f"{name}={known[name].to_dict()}[int(row['id'])]" for name in known)
        _, verdict = stand.score(writes(f"for row in rows: row.update({rows})"))
        assert verdict.metric == pytest.approx(0 if better == "min" else 1, abs=1e-9), verdict
        if form == "columns of the rows":
            _, verdict = stand.score(writes("for row in rows: row['y'] = 1"))
            answers = pd.read_csv(stand.problem.input_dir.parent / "private" / "answers.csv")
            exam = json.loads((stand.problem.input_dir.parent / "private" / "exam.json").read_text())
            scored = answers.iloc[exam["parts"]["validation"]]
            assert verdict.metric == pytest.approx(np.average((scored["y"] - 1).abs(), weights=scored["weight"]))
    finally:
        stand.close()
