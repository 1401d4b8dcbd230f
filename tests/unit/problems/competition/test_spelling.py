"""Classes as the user's files spell them, beside what pandas reads."""

from __future__ import annotations

import io

import pandas as pd

from problems.competition.grader.own_data.spelling import Classes, classes_of


def read(*cells: str) -> Classes:
    text = "\n".join(["kind", *cells]) + "\n"
    values, texts = (
        pd.read_csv(io.StringIO(text), skip_blank_lines=False, **how)["kind"]
        for how in ({}, {"dtype": str, "keep_default_na": False})
    )
    return classes_of(values, texts)


def test_na_among_words_is_a_class_under_a_name_that_pandas_keeps():
    found = read("None", "low", "", "None", "high")
    assert found.values.fillna("").tolist() == ["None_", "low", "", "None_", "high"]
    assert (found.words, found.lost) == ({"None_": "None"}, {"None": "None_"})
    assert found.notes == ("2 rows whose kind is 'None', which pandas reads as missing: programs see 'None_'",)


def test_the_name_of_such_a_class_is_no_other_classs():
    found = read("NA", "NA_", "NA", "NA__")
    assert found.values.tolist() == ["NA___", "NA_", "NA___", "NA__"] and found.words == {"NA___": "NA"}


def test_na_among_numbers_is_missing():
    found = read("1", "NA", "0", "null")
    assert found.values.isna().tolist() == [False, True, False, True]
    assert (found.words, found.lost, found.notes) == ({}, {}, ())
