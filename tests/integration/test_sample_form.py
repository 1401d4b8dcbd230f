"""A submission has the form of the user's sample (ids, names and order of columns), or it is told."""

import gzip

import numpy as np
import pandas as pd
import pytest
from support.competition_stand import Stand, writes
from support.notebook_cells import run_cells

from core.contracts import Limits
from problems.competition.problem import build
from utils.config import load_config
from utils.errors import ConfigError

COUNT, TESTED = 160, 40


def folder_of(tmp_path, target: str, sample: pd.DataFrame, *, ids: str | None = "id"):
    """A competition as Kaggle hands it out; `sample` is its sample submission."""
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({"size": draw.gamma(3, 30, COUNT).round(1), "tag": draw.integers(0, 9, COUNT)})
    frame["rent"] = (9 * frame["size"] + draw.normal(0, 5, COUNT)).round(2)
    frame["kind"] = np.array(["low", "mid", "high"])[np.arange(COUNT) % 3]
    if ids:
        frame.insert(0, ids, np.arange(1000, 1000 + COUNT))
    mine = tmp_path / "mine"
    mine.mkdir()
    train, test = frame[:-TESTED], frame[-TESTED:].drop(columns=["rent", "kind"])
    train.drop(columns="kind" if target == "rent" else "rent").to_csv(mine / "train.csv", index=False)
    test.to_csv(mine / "test.csv", index=False)
    sample.to_csv(mine / "sample_submission.csv", index=False)
    return mine


NAMES = range(1000 + COUNT - TESTED, 1000 + COUNT)
SHUFFLED = np.random.default_rng(1).permutation(NAMES)
FORMS = {
    "another name of the id column": ("rent", "id", {"FlatNo": SHUFFLED, "rent": 0}, {"FlatNo": SHUFFLED}),
    "no ids in the test": ("rent", None, {"ImageId": range(1, TESTED + 1), "Rent": 0}, {"ImageId": range(1, 41)}),
    "an id that differs by case": ("rent", "id", {"ID": SHUFFLED, "rent": 0}, {"ID": SHUFFLED}),
    "predictions before ids": ("rent", "id", {"predicted": 0, "id": NAMES}, {"id": NAMES}),
    "classes after a word": ("kind", "id", {"id": NAMES, "Status_low": 0.3, "Status_mid": 0.3, "Status_high": 0.4},
                             {"id": NAMES}),
    "classes before a word": ("kind", "id", {"id": NAMES, "Mid_p": 0.3, "High_p": 0.3, "Low_p": 0.4}, {"id": NAMES}),
}  # fmt: skip


def words(mine, target):
    return [f"data.dir={mine}", f"data.target={target}", f"data.metric={'mae' if target == 'rent' else 'logloss'}"]


@pytest.mark.parametrize("head", [[], ["row_id,rent"]])
def test_a_test_may_number_its_rows_where_the_training_table_does_not(tmp_path, inline, head):
    mine = labelled_folder(tmp_path, sample=(head[0], lambda i: f"{i},0") if head else None)
    for name in ("train.csv", "test.csv"):
        table = pd.read_csv(mine / name)
        table = table.drop(columns="id") if name == "train.csv" else table.rename(columns={"id": "row_id"})
        table.to_csv(mine / name, index=False)
    found, _ = handed_in(tmp_path, mine, "row['rent'] = 7", "data.target=rent", "data.metric=mae")
    wanted = ["row_id,rent", *(f"{i},7" for i in range(TRAINED, COUNT))]
    assert all(lines == wanted for lines in found.values())


def run_on_kaggle(folder, mine):
    (folder / "kaggle").mkdir()
    done = run_cells(folder / "solution.ipynb", mine, folder / "kaggle")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("form", FORMS)
def test_a_submission_and_the_notebooks_have_the_form_of_the_sample(tmp_path, inline, form):
    target, ids, sample, named = FORMS[form]
    mine = folder_of(tmp_path, target, pd.DataFrame(sample), ids=ids)
    change = "row['rent'] = 7" if target == "rent" else "row.update(low=0.2, mid=0.3, high=0.5)"
    stand = Stand(tmp_path, *words(mine, target))
    try:
        node, verdict = stand.score(writes(f"for row in rows: {change}"))
        assert verdict.failure is None, verdict
        stand.problem.export(node, tmp_path / "best", stand.run_dir)
        stand.problem.export_as("notebook", node, str(tmp_path / "solution.ipynb"), "")
    finally:
        stand.close()
    run_on_kaggle(tmp_path, mine)
    for place in ("best", "kaggle"):
        made = pd.read_csv(tmp_path / place / "submission.csv")
        assert list(made) == list(sample)
        (column, wanted), *_ = named.items()
        assert list(made[column]) == list(wanted)
        other = {name.lower(): made[name].unique().tolist() for name in made if name != column}
        if target == "rent":
            assert list(other.values()) == [[7]]
        else:
            assert {key: found for key in ("low", "mid", "high") for name, found in other.items() if key in name} == {
                "low": [0.2], "mid": [0.3], "high": [0.5],
            }  # fmt: skip


LEARNS = """
import pandas as pd
train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
table = pd.read_csv("input/sample_submission.csv")
table["kind"] = (test["size"] // 10).map(dict(zip(train["size"] // 10, train["kind"])))
table.to_csv("submission/submission.csv", index=False)
"""


@pytest.mark.parametrize("key", ["flat", None])
def test_the_notebook_takes_labels_from_the_second_table(tmp_path, inline, key):
    """A class `None` among them, which pandas alone would lose."""
    names = [f"F{n}" for n in range(COUNT)]
    frame = pd.DataFrame({"flat": names, "size": np.arange(COUNT) % 37})
    frame["kind"] = np.where(frame["size"] < 10, "None", np.where(frame["size"] < 20, "mid", "high"))
    mine = tmp_path / "mine"
    mine.mkdir()
    frame[:-TESTED].drop(columns="kind").to_csv(mine / "train.csv", index=False)
    frame[-TESTED:].drop(columns="kind").to_csv(mine / "test.csv", index=False)
    labels = frame[:-TESTED][["flat", "kind"]]
    labels = labels.sample(frac=1, random_state=0) if key else labels[["kind"]]
    labels.to_csv(mine / "labels.csv", index=False)
    stand = Stand(tmp_path, f"data.dir={mine}", "data.target=kind", "data.metric=accuracy")
    try:
        node, verdict = stand.score(LEARNS)
        assert verdict.metric == 1, verdict
        stand.problem.export_as("notebook", node, str(tmp_path / "solution.ipynb"), "")
    finally:
        stand.close()
    run_on_kaggle(tmp_path, mine)
    made = pd.read_csv(tmp_path / "kaggle" / "submission.csv", keep_default_na=False)
    assert made["kind"].tolist() == frame["kind"][-TESTED:].tolist()


UNLIKE = {
    "fewer ids": ("rent", {"id": NAMES[:-4], "rent": 0}, "lacks 4 ids of test.csv, such as 1156"),
    "other ids": ("rent", {"id": range(40), "rent": 0}, "lacks 40 ids of test.csv, such as 1120 and has 40"),
    "more columns": ("rent", {"id": NAMES, "low": 0, "high": 1}, "its columns are id, rent; those of sample"),
    "a column to predict from": ("rent", {"id": NAMES, "size": 0}, "those of sample_submission.csv are id, size"),
    "classes that it does not name": ("kind", {"id": NAMES, "c1": 0, "c2": 0, "c3": 0}, "its columns are id, high"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNLIKE)
def test_what_is_not_in_the_form_of_the_sample_is_told_at_the_start_and_at_the_export(tmp_path, inline, capsys, case):
    target, sample, said = UNLIKE[case]
    mine = folder_of(tmp_path, target, pd.DataFrame(sample))
    stand = Stand(tmp_path, *words(mine, target))
    try:
        assert said in stand.problem.note
        node, _ = stand.score(writes(""))
        stand.problem.export(node, tmp_path / "best", stand.run_dir)
        stand.problem.export_as("notebook", node, str(tmp_path / "solution.ipynb"), "")
    finally:
        stand.close()
    assert "not in the form of the sample submission: " in capsys.readouterr().err
    (tmp_path / "kaggle").mkdir()
    done = run_cells(tmp_path / "solution.ipynb", mine, tmp_path / "kaggle")
    assert done.returncode == 0 and said in done.stdout, "what was known before training fails nobody after it"
    made = pd.read_csv(tmp_path / "kaggle" / "submission.csv")
    assert list(made) == list(pd.read_csv(tmp_path / "best" / "submission.csv")) and list(made["id"]) == list(NAMES)


def test_a_sample_that_fits_is_not_remarked_on(tmp_path, inline):
    mine = folder_of(tmp_path, "rent", pd.DataFrame({"id": SHUFFLED, "rent": 0}))
    problem = build(load_config(None, words(mine, "rent")), tmp_path)
    problem.prepare()
    assert problem.note == ""


TRAINED = COUNT - TESTED
SPELLED = {
    "zeros in front": (lambda i: f"{i + 1:05d}", None),
    "a power of ten": (lambda i: f"{i + 1}e5", None),
    "decimals": (lambda i: f"{1 + i / 100:.3f}", None),
    "more digits than a number holds": (lambda i: f"{123456789012345678 * 10**6 + i}", None),
    "words for nothing": (lambda i: {TRAINED: "NA", TRAINED + 1: "null", TRAINED + 2: "None"}.get(i, f"r{i}"), None),
    "blanks around": (lambda i: f" r{i} ", None),
    "zeros and letters": (lambda i: f"{i:04d}" if i % 2 else f"A{i}", None),
    "another spelling in the sample": (str, lambda i: f"{i}.0"),
}


def labelled_folder(tmp_path, ids=str, *, label=lambda i: i * 37 % 101 + 0.5, named="rent", sample=None, **tables):
    """A folder of text tables as they stand; `sample` is head and row of a sample submission."""
    mine = tmp_path / "mine"
    mine.mkdir()
    rows = [f"{ids(i)},{(i * 7) % 50},{'abc'[i % 3]}" for i in range(COUNT)]
    train = [f"{row},{label(i)}" for i, row in enumerate(rows[:TRAINED])]
    found = {
        "train.csv": [f"id,size,town,{named}", *train],
        "test.csv": ["id,size,town", *rows[TRAINED:]],
        **dict(tables),
    }
    if sample:
        found["sample_submission.csv"] = [sample[0], *(sample[1](i) for i in range(TRAINED, COUNT))]
    for name, lines in found.items():
        (mine / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return mine


def handed_in(tmp_path, mine, change, *more) -> tuple[dict[str, list[str]], str]:
    """Lines of the submission by the way in which it is handed in, and the note of the start."""
    stand = Stand(tmp_path, f"data.dir={mine}", *more)
    try:
        node, verdict = stand.score(writes(f"for row in rows: {change}"))
        assert verdict.failure is None and verdict.metric is not None, verdict
        stand.problem.export(node, tmp_path / "best", stand.run_dir)
        stand.problem.refit(node, tmp_path / "refit", stand.jobs, Limits())
        stand.problem.export_as("notebook", node, str(tmp_path / "solution.ipynb"), "")
        note = stand.problem.note
    finally:
        stand.close()
    run_on_kaggle(tmp_path, mine)
    places = ("best", "refit", "kaggle")
    return {place: (tmp_path / place / "submission.csv").read_text().splitlines() for place in places}, note


@pytest.mark.parametrize("case, sampled", [*((case, True) for case in SPELLED), ("zeros in front", False)])
def test_ids_are_handed_in_as_they_stand(tmp_path, inline, case, sampled):
    spell, in_sample = SPELLED[case]
    name = in_sample if sampled and in_sample else spell
    sample = ("id,rent", lambda i: f"{name(i)},0") if sampled else None
    mine = labelled_folder(tmp_path, spell, sample=sample)
    found, note = handed_in(tmp_path, mine, "row['rent'] = 7", "data.target=rent", "data.metric=mae")
    wanted = ["id,rent", *(f"{name(i)},7" for i in range(TRAINED, COUNT))]
    assert all(lines == wanted for lines in found.values()) and note == ""


def test_a_program_may_answer_with_either_spelling_of_an_id(tmp_path, inline):
    mine = labelled_folder(tmp_path, lambda i: f"{i:05d}")
    found, _ = handed_in(
        tmp_path, mine, "row.update(id=row['id'].zfill(5), rent=7)", "data.target=rent", "data.metric=mae"
    )
    assert found["best"][1:3] == ["00120,7", "00121,7"]


@pytest.mark.parametrize("words", [("01", "10"), ("1.0", "2.0"), ("true", "false"), ("None", "some"), ("null", "NA")])
def test_classes_are_handed_in_as_they_stand_and_none_is_taken_for_missing(tmp_path, inline, words):
    mine = labelled_folder(tmp_path, named="left", label=lambda i: words[i % 3 == 0])
    stand = Stand(tmp_path / "peek", f"data.dir={mine}", "data.target=left", "data.metric=accuracy")
    stand.close()
    known = sorted(pd.read_csv(stand.problem.input_dir / "train.csv")["left"].unique())
    assert len(known) == 2 and stand.problem._ready().meta["rows"]["train"] == 84
    change = f"row['left'] = {[str(known[0]), str(known[1])]!r}[rows.index(row) % 2]"
    found, note = handed_in(tmp_path, mine, change, "data.target=left", "data.metric=accuracy")
    lost = [word for word in words if word in ("None", "null", "NA")]
    assert all(
        f"whose left is '{word}', which pandas reads as missing: programs see '{word}_'" in note for word in lost
    )
    for lines in found.values():
        assert {line.partition(",")[2] for line in lines[1:]} == set(words) and "left out" not in note


@pytest.mark.parametrize(("words", "given"), [(("1", "2"), ("1.0", "2.0")), (("true", "false"), ("1", "0"))])
def test_classes_are_handed_in_as_they_stand_though_programs_know_and_write_others(tmp_path, inline, words, given):
    """Beside a missing label pandas reads whole numbers as fractions; learners predict truths as 1 and 0."""
    mine = labelled_folder(tmp_path, named="left", label=lambda i: "" if i == 3 else words[i % 3 == 0])
    change = f"row['left'] = {given!r}[rows.index(row) % 2]"
    found, _ = handed_in(tmp_path, mine, change, "data.target=left", "data.metric=accuracy")
    for lines in found.values():
        assert {line.partition(",")[2] for line in lines[1:]} == set(words)


def test_probabilities_of_a_class_called_none_have_its_name(tmp_path, inline):
    mine = labelled_folder(tmp_path, named="left", label=lambda i: ("None", "Low", "01")[i % 3])
    change = "row.update({'01': 0.2, 'Low': 0.3, 'None_': 0.5})"
    found, _ = handed_in(tmp_path, mine, change, "data.target=left", "data.metric=logloss")
    assert all(
        lines == ["id,01,Low,None", *(f"{i},0.2,0.3,0.5" for i in range(TRAINED, COUNT))] for lines in found.values()
    )


FILLED = {
    "a column for each of two classes": ("id,left_no,left_yes", "{i},0.5,0.5", "{i},0.75,0.25", ""),
    "the classes the other way round": ("id,yes,no", "{i},0.5,0.5", "{i},0.25,0.75", "no is 1 - left"),
    "a column that is no prediction": ("id,left,Usage", "{i},0,Public", "{i},0.25,Public", "Usage is kept"),
    "no ids": ("left", "0", "0.25", "has no ids: its rows are those of test.csv in their order"),
}


@pytest.mark.parametrize("case", FILLED)
def test_a_sample_is_filled_as_it_asks(tmp_path, inline, case):
    head, row, wanted, told = FILLED[case]
    mine = labelled_folder(
        tmp_path, named="left", label=lambda i: "yes" if i % 3 else "no", sample=(head, lambda i: row.format(i=i))
    )
    found, note = handed_in(tmp_path, mine, "row['left'] = 0.25", "data.target=left", "data.metric=auc")
    assert all(lines == [head, *(wanted.format(i=i) for i in range(TRAINED, COUNT))] for lines in found.values())
    assert told in note and "not be in the form" not in note


def visits(tmp_path, *, shuffled=False):
    """Several rows of each patient, who begins with zeros; his number and the visit's name a row together."""
    named = [f"{i // 3:06d},{i % 3:02d}" for i in range(COUNT)]
    rows = [f"{name},{(i * 7) % 50}" for i, name in enumerate(named)]
    wanted = named[TRAINED:][::-1] if shuffled else named[TRAINED:]
    tables = {
        "train.csv": ["Patient ID,visit no,size,next visit",
                      *(f"{row},{i * 37 % 101 + 0.5}" for i, row in enumerate(rows[:TRAINED]))],
        "test.csv": ["Patient ID,visit no,size", *rows[TRAINED:]],
        "sample_submission.csv": ["Patient ID,visit no,next visit", *(f"{name},0" for name in wanted)],
    }  # fmt: skip
    return labelled_folder(tmp_path, **tables), wanted


def test_rows_that_several_columns_name_together_are_handed_in_under_them(tmp_path, inline):
    mine, wanted = visits(tmp_path)
    found, note = handed_in(tmp_path, mine, "row['next visit'] = 7", "data.target=next visit", "data.metric=mae")
    lines = ["Patient ID,visit no,next visit", *(f"{name},7" for name in wanted)]
    assert all(made == lines for made in found.values()), found
    assert "are those of test.csv in their order, as Patient ID, visit no say" in note
    assert "not be in the form" not in note and "kept as it stands" not in note
    assert "'--data.split=group:Patient ID' hides all rows of some" in note and "group:visit" not in note


def test_groups_that_the_test_shares_or_that_are_hidden_whole_already_are_not_told(tmp_path, inline):
    mine, _ = visits(tmp_path)
    words = ("data.target=next visit", "data.metric=mae")
    whole = Stand(tmp_path / "whole", f"data.dir={mine}", *words, "data.split=group:Patient ID")
    whole.close()
    assert "hides all rows of some" not in whole.problem.note
    train = pd.read_csv(mine / "train.csv", dtype=str)
    train["Patient ID"] = [f"{50 - i % 20:06d}" for i in range(len(train))]
    train.to_csv(mine / "train.csv", index=False)
    shared = Stand(tmp_path / "shared", f"data.dir={mine}", *words)
    shared.close()
    assert "hides all rows of some" not in shared.problem.note


def test_rows_that_several_columns_name_in_another_order_are_told(tmp_path, inline):
    mine, _ = visits(tmp_path, shuffled=True)
    _, note = handed_in(tmp_path, mine, "row['next visit'] = 7", "data.target=next visit", "data.metric=mae")
    assert "submission.csv will not be in the form of sample_submission.csv" in note


def test_a_table_with_the_ids_of_the_test_and_the_target_is_the_sample(tmp_path, inline):
    named = {"gender_submission.csv": ["id,rent", *(f"{i},{i % 2}" for i in reversed(range(TRAINED, COUNT)))]}
    found, note = handed_in(
        tmp_path, labelled_folder(tmp_path, **named), "row['rent'] = 7", "data.target=rent", "data.metric=mae"
    )
    wanted = ["id,rent", *(f"{i},7" for i in reversed(range(TRAINED, COUNT)))]
    assert all(lines == wanted for lines in found.values())
    assert "gender_submission.csv is taken for the sample submission" in note and "left out" not in note


@pytest.mark.parametrize("blank", ["0", ""])
def test_a_form_with_the_ids_of_the_test_is_the_sample_whatever_its_column_is_called(tmp_path, inline, blank):
    """A table of features beside it, whose cells differ, is none."""
    ids = [*reversed(range(TRAINED, COUNT))]
    named = {
        "how_to_submit.csv": ["ID,Predicted Rent", *(f"{i},{blank}" for i in ids)],
        "extra.csv": ["id,noise", *(f"{i},{i * i % 97}" for i in ids)],
    }
    found, note = handed_in(
        tmp_path, labelled_folder(tmp_path, **named), "row['rent'] = 7", "data.target=rent", "data.metric=mae"
    )
    assert all(lines == ["ID,Predicted Rent", *(f"{i},7" for i in ids)] for lines in found.values())
    assert "how_to_submit.csv is taken for the sample submission" in note and "extra.csv is taken" not in note


@pytest.mark.parametrize("new", [True, False])
def test_the_sample_names_the_rows_where_nothing_else_does(tmp_path, inline, new):
    """Pictures: a table of labels, and a sample submission with names of others. Known names ask for nothing."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "train.csv").write_text("file,kind\n" + "".join(f"{i:03}.png,{'ab'[i % 2]}\n" for i in range(60)))
    names = [f"{i:03}.png" for i in (range(60, 70) if new else range(10))]
    (mine / "sample_submission.csv").write_text("file,kind\n" + "".join(f"{name},a\n" for name in names))
    stand = Stand(tmp_path, f"data.dir={mine}", "data.target=kind", "data.metric=accuracy")
    try:
        node, verdict = stand.score(writes("for row in rows: row['kind'] = 'b'"))
        assert verdict.failure is None and stand.problem.export(node, tmp_path / "best", stand.run_dir)
    finally:
        stand.close()
    made = tmp_path / "best" / "submission.csv"
    assert made.is_file() == new == ("sample_submission.csv is read as test.csv" in stand.problem.note)
    assert not new or made.read_text().split() == ["file,kind", *(f"{name},b" for name in names)]


REFUSED = {
    "data.split=group:rent": (lambda i: i, "rent is the target"),
    "data.split=time:town": (lambda i: i, "all rows have the same time"),
    "data.metric=mae": (
        lambda i: f'"{i + 1},000.10"' if i % 2 else f"{i} kg",
        "write numbers as 1234.56, without marks",
    ),
    "data.metric=rmse": (lambda i: f"€ {i}" if i else "5 $", "write numbers as 1234.56, without marks"),
}


@pytest.mark.parametrize("word", REFUSED)
def test_what_cannot_be_used_is_refused_with_its_remedy(tmp_path, inline, word):
    label, said = REFUSED[word]
    mine = labelled_folder(tmp_path, label=label)
    text = (mine / "train.csv").read_text()
    (mine / "train.csv").write_text(text.replace(",b,", ",a,").replace(",c,", ",a,"))
    with pytest.raises(ConfigError, match=said):
        build(load_config(None, [f"data.dir={mine}", "data.target=rent", "data.metric=mae", word]), tmp_path).prepare()


def test_a_test_of_a_header_alone_is_told_at_the_start_and_at_the_export(tmp_path, inline, capsys):
    mine = labelled_folder(tmp_path, **{"test.csv": ["id,size,town"]})
    stand = Stand(tmp_path, *words(mine, "rent"))
    try:
        node, _ = stand.score(writes(""))
        stand.problem.export(node, tmp_path / "best", stand.run_dir)
    finally:
        stand.close()
    said = "test.csv has no rows: there will be no submission.csv"
    assert said in stand.problem.note and said in capsys.readouterr().err


@pytest.mark.parametrize(
    "line, said", [("sys.exit(0)", "raised SystemExit"), ("os._exit(0)", "the process that tried")]
)
def test_a_metric_that_ends_its_process_is_named(tmp_path, line, said):
    own = tmp_path / "own.py"
    own.write_text(f"import os, sys\n\ndef cost(truth, predicted):\n    {line}\n")
    mine = labelled_folder(tmp_path)
    named = [f"data.dir={mine}", "data.target=rent", f"data.metric={own}:cost", "problem.direction=min"]
    with pytest.raises(ConfigError, match=f"own.py:cost.*{said}"):
        build(load_config(None, named), tmp_path).prepare()


@pytest.mark.parametrize("name", ["mine", "mine/description.md"])
def test_what_cannot_be_opened_is_named(tmp_path, monkeypatch, name):
    mine = labelled_folder(tmp_path, **{"description.md": ["flats"]})

    def refusing(method):
        def opened(path, *arguments, **more):
            if path == tmp_path / name:
                raise PermissionError(13, "Permission denied", str(path))
            return method(path, *arguments, **more)

        return opened

    for method in ("iterdir", "read_text"):
        monkeypatch.setattr(type(mine), method, refusing(getattr(type(mine), method)))
    with pytest.raises(ConfigError, match=f"{name}' cannot be read: Permission denied"):
        build(load_config(None, words(mine, "rent")), tmp_path)


def test_a_packed_table_that_is_cut_off_is_named(tmp_path, inline):
    mine = labelled_folder(tmp_path)
    (mine / "train.csv.gz").write_bytes(gzip.compress((mine / "train.csv").read_bytes())[:-200])
    (mine / "train.csv").unlink()
    with pytest.raises(ConfigError, match=r"train\.csv\.gz' is not a table that can be read: Compressed file ended"):
        build(load_config(None, words(mine, "rent")), tmp_path).prepare()


def test_a_ranking_with_a_row_for_each_place_is_told_and_not_written_into_one_cell(tmp_path, inline):
    """It wrote the K best into one cell, in a row an id, without a word: another form than the sample's."""
    rows = [(row, kind) for row in SHUFFLED for kind in ("mid", "low")]
    mine = folder_of(tmp_path, "kind", pd.DataFrame(rows, columns=["id", "kind"]))
    stand = Stand(tmp_path, f"data.dir={mine}", "data.target=kind", "data.metric=map@2")
    try:
        assert "submission.csv will not be in the form of sample_submission.csv" in stand.problem.note
        assert "most probable classes" not in stand.problem.note
    finally:
        stand.close()


@pytest.mark.parametrize(("cell", "mark"), [("mid low", " "), ("high", " "), ("low,mid", ",")])
def test_the_best_classes_of_a_row_are_named_in_one_cell_as_the_sample_does(tmp_path, inline, cell, mark):
    mine = folder_of(tmp_path, "kind", pd.DataFrame({"id": SHUFFLED, "kind": cell}))
    stand = Stand(tmp_path, f"data.dir={mine}", "data.target=kind", "data.metric=map@2")
    try:
        assert "kind is the 2 most probable classes, the best first" in stand.problem.note
        node, _ = stand.score(writes("for row in rows: row.update(low=int(row['id']) % 2, mid=0.5, high=0.25)"))
        stand.problem.export(node, tmp_path / "best", stand.run_dir)
        stand.problem.export_as("notebook", node, str(tmp_path / "solution.ipynb"), "")
    finally:
        stand.close()
    run_on_kaggle(tmp_path, mine)
    wanted = [f"low{mark}mid" if name % 2 else f"mid{mark}high" for name in SHUFFLED]
    for place in ("best", "kaggle"):
        made = pd.read_csv(tmp_path / place / "submission.csv")
        assert list(made) == ["id", "kind"] and list(made["id"]) == list(SHUFFLED)
        assert made["kind"].tolist() == wanted


SALES = pd.DataFrame([(shop, day) for shop in range(1, 6) for day in pd.date_range("2012-01-06", periods=40)])
SALES.columns = ["Shop", "Day"]
SALES["Day"] = SALES["Day"].dt.strftime("%Y-%m-%d")
SALES["sold"], SALES["lost"] = np.arange(200) % 17 * 10.0, np.arange(200) % 13 / 2


def sales_folder(tmp_path, targets: list[str], sample: pd.DataFrame):
    mine = tmp_path / "mine"
    mine.mkdir()
    test = SALES["Day"] > "2012-02-05"
    SALES[~test][["Shop", "Day", *targets]].to_csv(mine / "train.csv", index=False)
    SALES[test][["Shop", "Day"]].to_csv(mine / "test.csv", index=False)
    sample.to_csv(mine / "sample_submission.csv", index=False)
    return mine


def told_by_test(known: dict, lost: float | None = None) -> str:
    """A program that predicts `sold` by shop and day, which ids of ours do not tell."""
    more = f"; row['lost'] = {lost}" if lost is not None else ""
    place = "known[int(one['Shop']), one['Day']]"
    return writes(
        f"known = {known}\ntest = csv.DictReader(open('input/test.csv'))\n"
        f"for row, one in zip(rows, test): row['sold'] = {place}{more}"
    )


def test_ids_that_are_put_together_of_several_columns_name_rows_in_whatever_order(tmp_path, inline):
    rows = SALES[SALES["Day"] > "2012-02-05"].sample(frac=1, random_state=1)
    ids = rows["Shop"].astype(str) + "_" + rows["Day"]
    mine = sales_folder(tmp_path, ["sold"], pd.DataFrame({"Id": ids, "sold": 0}))
    stand = Stand(tmp_path, f"data.dir={mine}", "data.target=sold", "data.metric=mae")
    try:
        assert "Id of sample_submission.csv is Shop and Day with '_' between them" in stand.problem.note
        known = {(int(shop), day): n for n, (shop, day) in enumerate(zip(SALES["Shop"], SALES["Day"], strict=True))}
        node, _ = stand.score(told_by_test(known))
        stand.problem.export(node, tmp_path / "best", stand.run_dir)
        stand.problem.export_as("notebook", node, str(tmp_path / "solution.ipynb"), "")
    finally:
        stand.close()
    run_on_kaggle(tmp_path, mine)
    for place in ("best", "kaggle"):
        made = pd.read_csv(tmp_path / place / "submission.csv")
        assert list(made["Id"]) == list(ids) and made["sold"].tolist() == rows.index.tolist()


def test_a_sample_with_a_row_for_each_prediction_is_filled_so(tmp_path, inline):
    rows = SALES[SALES["Day"] > "2012-02-05"].melt(["Shop", "Day"], ["sold", "lost"]).sample(frac=1, random_state=1)
    ids = rows["Shop"].astype(str) + "_" + rows["Day"] + "-" + rows["variable"]
    mine = sales_folder(tmp_path, ["sold", "lost"], pd.DataFrame({"value": 0.5, "what": ids}))
    stand = Stand(tmp_path, f"data.dir={mine}", "data.target=sold,lost", "data.metric=mae")
    try:
        assert "has a row for each row of test.csv and each prediction: what is Shop, Day" in stand.problem.note
        known = {(int(shop), day): n for n, (shop, day) in enumerate(zip(SALES["Shop"], SALES["Day"], strict=True))}
        node, _ = stand.score(told_by_test(known, lost=0.25))
        stand.problem.export(node, tmp_path / "best", stand.run_dir)
        with pytest.raises(ConfigError, match="has a row for each prediction"):
            stand.problem.export_as("notebook", node, str(tmp_path / "solution.ipynb"), "")
    finally:
        stand.close()
    made = pd.read_csv(tmp_path / "best" / "submission.csv")
    wanted = [
        known[shop, day] if name == "sold" else 0.25
        for shop, day, name in zip(rows["Shop"], rows["Day"], rows["variable"], strict=True)
    ]
    assert list(made) == ["value", "what"] and list(made["what"]) == list(ids) and made["value"].tolist() == wanted


@pytest.mark.parametrize("text", ["12 7 200 31 {}", "What is the {} best way to cook rice"])
def test_texts_name_no_rows(tmp_path, inline, text):
    """Pixels in a cell, or sentences: each row was handed in under the whole of it."""
    train = ["pixels,kind", *(f"{text.format(i)},{'ab'[i % 2]}" for i in range(TRAINED))]
    mine = labelled_folder(tmp_path)
    (mine / "train.csv").write_text("\n".join(train))
    (mine / "test.csv").write_text("\n".join(["pixels", *(text.format(i) for i in range(TRAINED, COUNT))]))
    found, _ = handed_in(tmp_path, mine, "row['kind'] = 'b'", "data.target=kind", "data.metric=accuracy")
    assert all(lines == ["row,kind", *(f"{i},b" for i in range(TESTED))] for lines in found.values())
