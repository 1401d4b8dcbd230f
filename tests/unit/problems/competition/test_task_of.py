"""Numbers or classes: what the metric, the target and the sample submission tell."""

import pandas as pd
import pytest

from problems.competition.grader.survey import form_of_columns, survey
from problems.competition.rules.facts import read_facts
from utils.data_preview import profile

ROWS = 200
TARGETS = {
    "seven classes": [1 + i % 7 for i in range(ROWS)],
    "counts": [i % 90 for i in range(ROWS)],
    "fractions": [i / 7 for i in range(ROWS)],
    "two": [i % 2 for i in range(ROWS)],
    "words": ["abc"[i % 3] for i in range(ROWS)],
    "pair of words": [["no", "yes"][i % 2] for i in range(ROWS)],
    "sentences": [f"a sentence of five words {i}" for i in range(ROWS)],
}
WHOLE, FRACTIONS, WORDS = 0, 0.5, "a"

CASES = [
    # told by the metric, target, sample → task
    ("", "seven classes", WHOLE, "labels"),
    ("", "seven classes", FRACTIONS, "regression"),
    ("", "counts", WHOLE, "regression"),
    ("", "fractions", WHOLE, "regression"),
    ("", "two", WHOLE, "labels"),
    ("", "two", FRACTIONS, "probability"),
    ("", "words", WORDS, "labels"),
    ("", "pair of words", FRACTIONS, "probability"),
    ("", "pair of words", WORDS, "labels"),
    ("labels", "seven classes", FRACTIONS, "labels"),
    ("regression", "seven classes", WHOLE, "regression"),
    ("probability", "two", WHOLE, "probability"),
    ("probability", "fractions", FRACTIONS, "regression"),  # toxicity from 0 to 1, scored by an AUC
    ("classes", "counts", WHOLE, "labels"),  # MAP@5 of ids: the first place alone
    ("classes", "words", WORDS, "labels"),
]


def facts(told, target, sample):
    train = pd.DataFrame({"id": range(ROWS), "x": [i * 7 % 31 for i in range(ROWS)], "y": TARGETS[target]})
    data = {
        "id": "id", "targets": ["y"], "label": None, "rows": {"train": ROWS}, "columns": profile(train), "task": told,
        "form": form_of_columns(pd.DataFrame({"id": range(3), "y": sample}), ["y"]), "table": "labels.csv",
    }  # fmt: skip
    return read_facts({"data": data})


@pytest.mark.parametrize(("told", "target", "sample", "task"), CASES)
def test_the_task(told, target, sample, task):
    found = facts(told, target, sample)
    assert (found.task, found.is_table, found.table) == (task, True, "labels.csv")


def test_sentences_are_no_classes():
    assert not facts("", "sentences", WORDS).is_table


@pytest.fixture
def public(tmp_path):
    (tmp_path / "sample_submission.csv").write_text("id,cat,dog\n1,0.5,0.5\n2,0.5,0.5\n")
    (tmp_path / "notes.csv").write_text("page,word\n1,x\n")
    return tmp_path


def seen(public, targets=("cat", "dog")):
    return survey(public, public / "sample_submission.csv", list(targets))


def test_classes_in_a_table_of_another_name_are_the_submissions_columns(public):
    (public / "labels.csv").write_text("id,pet\n7,cat\n8,dog\n9,cat\n")
    found = seen(public)
    assert (found.labelled.name, found.label, found.is_plain) == ("labels.csv", "pet", False)
    assert list(found.told()) == ["labels: column pet of input/labels.csv, whose classes are the submission's columns"]
    assert found.test.name == "sample_submission.csv"


def test_a_training_table_goes_before_others_and_a_plain_one_needs_no_word(public):
    (public / "labels.csv").write_text("id,cat,dog\n7,1,0\n")
    (public / "train.csv").write_text("id,x,cat,dog\n7,1,1,0\n")
    (public / "test.csv").write_text("id,x\n1,1\n")
    found = seen(public)
    assert (found.labelled.name, found.targets, found.is_plain) == ("train.csv", ("cat", "dog"), True)
    assert not list(found.told())


def test_a_folder_without_labels_has_none(public):
    assert seen(public).labelled is None and not list(seen(public).told())
