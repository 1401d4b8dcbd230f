"""`data.classes`: grades in words have an order, and which of two classes counts is the user's to say."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score
from support.competition_stand import Stand, writes
from support.notebook_cells import run_cells

from problems.competition.problem import build
from utils.config import load_config
from utils.errors import ConfigError

LEARNED, PREDICTED = 120, 12
READ = "key = list(rows[0])[0]; x = {row[key]: int(row['x']) for row in csv.DictReader(open('input/test.csv'))}\n"
GRADES = ["None", "mild", "severe"]


@pytest.fixture
def mine(tmp_path):
    """Grades that follow from `x`; the lowest is called what pandas takes for missing, some labels are missing."""
    folder = tmp_path / "mine"
    folder.mkdir()
    rows = pd.DataFrame({"flat": range(LEARNED + PREDICTED), "x": [n * 7 % 30 for n in range(LEARNED + PREDICTED)]})
    rows["grade"] = [GRADES[x // 10] for x in rows["x"]]
    rows["kind"] = ["good" if grade == "None" else "wrong" for grade in rows["grade"]]
    train = rows[:LEARNED].copy()
    train.loc[:3, ["grade", "kind"]] = ""
    train.to_csv(folder / "train.csv", index=False)
    rows[LEARNED:].drop(columns=["grade", "kind"]).to_csv(folder / "test.csv", index=False)
    return folder


def words(mine, target, classes, metric):
    return [f"data.dir={mine}", f"data.target={target}", f"data.classes={classes}", f"data.metric={metric}"]


def test_grades_in_words_are_numbers_for_programs_and_words_again_in_what_is_handed_in(tmp_path, inline, mine):
    stand = Stand(tmp_path, *words(mine, "grade", "None,mild,severe", "qwk"))
    try:
        assert "grade is written as numbers: 0 for None, 1 for mild, 2 for severe" in str(stand.problem.note)
        node, verdict = stand.score(writes(READ + "for row in rows: row['grade'] = x[row[key]] // 10"))
        assert verdict.metric == 1, verdict
        for grade, score in ((0, 0.0), (1, 0.0)):
            assert stand.score(writes(f"for row in rows: row['grade'] = {grade}"))[1].metric == score
        stand.problem.export(node, tmp_path / "best", stand.run_dir)
        stand.problem.export_as("notebook", node, str(tmp_path / "solution.ipynb"), "")
    finally:
        stand.close()
    (tmp_path / "kaggle").mkdir()
    done = run_cells(tmp_path / "solution.ipynb", mine, tmp_path / "kaggle")
    assert done.returncode == 0, done.stderr
    wanted = [GRADES[n * 7 % 30 // 10] for n in range(LEARNED, LEARNED + PREDICTED)]
    for place in ("best", "kaggle"):
        made = pd.read_csv(tmp_path / place / "submission.csv", keep_default_na=False)
        assert made["grade"].tolist() == wanted


def test_a_grade_that_no_row_has_keeps_its_place(tmp_path, inline, mine):
    stand = Stand(tmp_path, *words(mine, "grade", "None,mild,grave,severe", "qwk"))
    told, guess = str(stand.problem.note), {0: 0, 1: 1, 2: 1}
    _, verdict = stand.score(writes(READ + f"for row in rows: row['grade'] = {guess}[x[row[key]] // 10]"))
    stand.close()
    (answers,) = (tmp_path / "workspaces" / ".prepared").glob("*/private/answers.csv")
    (parts,) = (tmp_path / "workspaces" / ".prepared").glob("*/private/exam.json")
    truth = pd.read_csv(answers)["grade"].to_numpy()[json.loads(parts.read_text())["parts"]["validation"]]
    by_value = cohen_kappa_score(truth, [min(place, 1) for place in truth], weights="quadratic", labels=range(4))
    assert "0 for None, 1 for mild, 2 for grave, 3 for severe (grave: no row has it)" in told
    assert verdict.metric == pytest.approx(by_value)


@pytest.mark.parametrize(("classes", "score"), [("good,wrong", 0.0), ("wrong,good", 1.0)])
def test_the_last_of_two_classes_counts(tmp_path, inline, mine, classes, score):
    stand = Stand(tmp_path, *words(mine, "kind", classes, "auc"))
    verdict = stand.score(writes(READ + "for row in rows: row['kind'] = -x[row[key]]"))[1]
    stand.close()
    assert verdict.metric == score, verdict


@pytest.mark.parametrize(
    ("target", "classes", "metric", "said"),
    [
        ("grade", "None,mild", "qwk", "lacks the grade 'severe'; there are None, mild, severe"),
        ("grade", "None,mild,sever", "qwk", "no row has the grade 'sever'"),
        ("grade", "None,mild,severe,mild", "qwk", "names a class twice"),
        ("kind", "wrong", "auc", "names all classes of the target with commas between them"),
        ("grade,kind", "a,b", "accuracy", "takes one data.target, not grade,kind"),
        ("x", "0,1", "rmse", "only metrics of classes have an order"),
    ],
)
def test_classes_that_are_not_the_targets_are_refused(tmp_path, inline, mine, target, classes, metric, said):
    with pytest.raises(ConfigError, match=said):
        build(load_config(None, words(mine, target, classes, metric)), tmp_path).prepare()


def test_the_refusal_of_words_says_how_they_get_an_order(tmp_path, inline, mine):
    with pytest.raises(ConfigError, match=r"whole numbers.*or their order: --data.classes=LOWEST,…,HIGHEST"):
        build(load_config(None, [*words(mine, "grade", "", "qwk")[:2], "data.metric=qwk"]), tmp_path).prepare()
