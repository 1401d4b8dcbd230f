"""Parts, checks and the stand-in for `mlebench`, in this process."""

import contextlib
import os
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.search.claim import drawn_claim
from problems.competition.grader import grade, launch
from problems.competition.grader.grade import Judge
from problems.competition.grader.mlebench import helpers, shim
from problems.competition.grader.scoring import exam as exam_of_scores
from problems.competition.grader.scoring import parts, scores, validate
from problems.competition.grader.scoring.exam import Scoring
from problems.competition.grader.tables.exact import Malformed, read_submission
from problems.competition.medals import medal, thresholds
from utils.stats import drawn_interval

# ------------------------------------------------------------ two programs on the same draws of the rows


@pytest.fixture
def judge(tmp_path):
    """160 rows, graded by RMSE; one row is far off, as a house is that makes up a quarter of the squared error."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"id": np.arange(160), "y": rng.normal(size=160)})
    table.to_csv(tmp_path / "answers.csv", index=False)
    parts_of = {"validation": list(range(0, 160, 2)), "final": list(range(1, 160, 2)), "few": list(range(19))}

    def graded(offset, part="final"):
        exam = {
            "answers": str(tmp_path / "answers.csv"), "sample": str(tmp_path / "answers.csv"), "id": "id",
            "targets": ["y"], "strict": True, "metric": "rmse", "task": "regression", "labels": False,
            "parts": parts_of,
        }  # fmt: skip
        mine = table.assign(y=table["y"] + offset + rng.normal(size=160) / 5)
        mine.loc[41, "y"] += 4
        mine.to_csv(tmp_path / "mine.csv", index=False)
        return Judge(exam).grade(str(tmp_path / "mine.csv"), part, interval=True)

    return graded


def test_a_blend_reads_no_more_predictions_than_memory_is_meant_for(tmp_path, monkeypatch):
    """Two hundred programs may take part, and a table may have any number of rows."""
    rng, read = np.random.default_rng(2), []
    table = pd.DataFrame({"id": np.arange(40), "y": rng.normal(size=40)})
    table.to_csv(tmp_path / "answers.csv", index=False)
    exam = {
        "answers": str(tmp_path / "answers.csv"), "sample": str(tmp_path / "answers.csv"), "id": "id",
        "targets": ["y"], "strict": True, "metric": "rmse", "task": "regression", "labels": False,
        "parts": {"validation": list(range(20)), "final": list(range(20, 40))},
    }  # fmt: skip
    paths = [str(tmp_path / f"{number}.csv") for number in range(9)]
    for path in paths:
        table.assign(y=table["y"] + rng.normal(size=40)).to_csv(path, index=False)
    monkeypatch.setattr(grade, "read_submission", lambda path, texts: read.append(path) or read_submission(path, texts))
    judge = Judge(exam)
    whole = judge.blend(paths, True, [1.0] * 9, None)
    assert read == paths and len(set(whole["picks"])) > 1
    alone = min(judge.grade(path, "validation", False)["score"] for path in paths)
    assert whole["score"] < alone
    monkeypatch.setattr(grade, "MOST_CELLS", 3 * 20)
    monkeypatch.setattr(grade, "FEWEST_BLENDED", 2)
    read.clear()
    judge.blend(paths, True, [1.0] * 9, None)
    assert read == paths[:3]


@pytest.mark.parametrize("predicted", [3037000540, -(2**63)])
def test_errors_of_large_whole_numbers_have_no_negative_squares(tmp_path, predicted):
    """A competition's own grader was told them as the program wrote them: numpy's wrap round, below zero."""
    (tmp_path / "answers.csv").write_text("id,y\n" + "".join(f"{row},{row % 3}\n" for row in range(20)))
    (tmp_path / "mine.csv").write_text("id,y\n" + "".join(f"{row},{predicted}\n" for row in range(20)))
    (tmp_path / "grade.py").write_text("def grade(mine, true): return ((mine['y'] - true['y']) ** 2).mean()\n")
    exam = {
        "answers": str(tmp_path / "answers.csv"), "sample": str(tmp_path / "answers.csv"), "id": "id",
        "targets": ["y"], "strict": False, "labels": False,
        "grade": {"folder": str(tmp_path), "function": "grade:grade"},
        "parts": {"validation": list(range(10)), "final": list(range(10, 20))},
    }  # fmt: skip
    assert Judge(exam).grade(str(tmp_path / "mine.csv"), "validation", False)["score"] > 9e18


def test_columns_of_classes_are_blended_beside_a_target_called_like_one_of_them(tmp_path):
    """The answers have one column of classes, a submission has one for each."""
    rng, classes = np.random.default_rng(4), ["n", "y", "z"]
    answers = pd.DataFrame({"id": np.arange(60), "y": rng.choice(classes, 60)})
    answers.to_csv(tmp_path / "answers.csv", index=False)
    true = np.array([answers["y"] == name for name in classes], float).T
    pd.DataFrame(true, columns=classes).assign(id=answers["id"]).to_csv(tmp_path / "sample.csv", index=False)
    exam = {
        "answers": str(tmp_path / "answers.csv"), "sample": str(tmp_path / "sample.csv"), "id": "id",
        "targets": classes, "truth": ["y"], "texts": ["y"], "strict": True, "metric": "logloss", "task": "classes",
        "labels": False, "parts": {"validation": list(range(30)), "final": list(range(30, 60))},
    }  # fmt: skip
    paths = [str(tmp_path / f"{number}.csv") for number in range(3)]
    for path in paths:
        noisy = true + rng.uniform(0.2, 0.8, true.shape)
        made = pd.DataFrame(noisy / noisy.sum(axis=1, keepdims=True), columns=classes).assign(id=answers["id"])
        made.to_csv(path, index=False)
    judge = Judge(exam)
    blended = judge.blend(paths, True, [1.0] * 3, None)
    assert blended["scale"] == "mean" and len(set(blended["picks"])) > 1
    assert blended["score"] < min(judge.grade(path, "validation", False)["score"] for path in paths)


def test_two_programs_are_compared_on_the_same_draws_of_the_rows(judge):
    """An outlier that both miss makes both scores noisy, their difference hardly: the scores' own intervals overlap."""
    better, worse = judge(0.5), judge(0.7)
    assert drawn_interval(better["draws"], 80)[1] > drawn_interval(worse["draws"], 80)[0]
    gain = worse["score"] - better["score"]
    found = drawn_claim("base", gain, better["draws"], worse["draws"], better["cases"], True)
    assert found.gain == gain and found.holds and found.interval[0] < gain < found.interval[1]
    back = drawn_claim("base", -gain, worse["draws"], better["draws"], worse["cases"], True)
    assert back.interval == pytest.approx((-found.interval[1], -found.interval[0]))
    few = [judge(offset, "few") for offset in (0.5, 0.7)]
    assert drawn_claim("base", 0.1, few[0]["draws"], few[1]["draws"], few[0]["cases"], True) is None, "of 19 rows"


def _alike_in_groups(rng):
    """30 groups of ten rows; in each a program errs by something that all of its rows share."""
    return np.repeat(rng.normal(size=(2, 30)), 10, axis=1) + rng.normal(size=(2, 300)) / 2


def _alike_in_time(rng):
    """300 moments; half of an error is still there at the next one."""
    errors = rng.normal(size=(2, 300))
    for now in range(1, 300):
        errors[:, now] = errors[:, now - 1] / 2 + errors[:, now] * 0.75**0.5
    return errors


@pytest.mark.parametrize(
    ("how", "made"),
    [
        ("random", lambda rng: rng.normal(size=(2, 25))),
        ("group", _alike_in_groups),
        ("time", _alike_in_time),
    ],
)
def test_programs_that_are_equally_good_are_told_apart_no_more_often_than_chance_allows(how, made):
    """RMSEs of two programs with errors of one kind, also where few rows, or rows that are alike, tell little: two to
    three in a hundred may be called better. Drawn row by row, more than a third were told apart with groups, one in six
    with times."""
    rng, told = np.random.default_rng(3), 0
    for _ in range(200):
        errors = made(rng) ** 2
        places = np.arange(errors.shape[1]) // (10 if how == "group" else 1)
        units, run = parts.units_of(places, how)
        draws = [
            scores.resampled(lambda rows, e=e: float(np.sqrt(e[rows].mean())), units, run=run, draws=120)
            for e in errors
        ]
        roots = np.sqrt(errors.mean(axis=1))
        found = drawn_claim("base", float(roots[1] - roots[0]), draws[0], draws[1], units.max() + 1, True)
        told += found.interval[0] > 0 or found.interval[1] < 0
    assert told <= 22, "5 % of 200 is 10; within some four sigma"


@pytest.mark.parametrize(
    ("how", "told", "cases"),
    [
        ("random", "", 40),
        ("group", "whole groups", 4),
        ("distinct", "different rows", 4),
        ("time", "stretches of time", 40),
    ],
)
def test_a_part_counts_what_is_drawn_whole(tmp_path, how, told, cases):
    """Of groups and of equal rows each is one case; rows of a few times are drawn one by one, in their order."""
    table = pd.DataFrame({"id": np.arange(80), "y": np.arange(80.0)})
    table.to_csv(tmp_path / "answers.csv", index=False)
    table.assign(y=table["y"] + np.arange(80) % 7).to_csv(tmp_path / "mine.csv", index=False)
    group = np.arange(80) // 10
    by = {"order": group, "groups": pd.Series(group).astype(str)}
    exam = {
        "answers": str(tmp_path / "answers.csv"), "sample": str(tmp_path / "answers.csv"), "id": "id",
        "targets": ["y"], "strict": True, "metric": "mae", "task": "regression", "labels": False,
        "parts": parts.split_hidden(table, ["y"], how=how, seed=1, **by), "how": how,
        "places": parts.places_of(how, **by),
    }  # fmt: skip
    found = Judge(exam).grade(str(tmp_path / "mine.csv"), "final", interval=True)
    assert (found["drawn"], found["cases"]) == (told, cases)
    assert bool(found["blocks"]) == (cases > 8) and len(set(found["draws"])) > 2


@pytest.mark.parametrize("metric", ["balanced_accuracy", "f1_macro", "f1_weighted", "mcc"])
def test_words_are_resampled_as_quickly_as_numbers(metric):
    """A thousand draws of a hundred thousand words took longer than a grader may."""
    draw, words = np.random.default_rng(0), np.array(["sofa", "chair", "table", "bed", "lamp"])
    codes = draw.integers(0, 5, (2, 8_000))
    wrong = draw.random(8_000) < 0.4
    answers = pd.DataFrame({"y": codes[0]})
    mine = pd.DataFrame({"y": np.where(wrong, codes[1], codes[0])})
    exam = {"metric": metric, "task": "labels", "labels": True, "targets": ["y"]}
    begun = time.process_time()
    spelled = [table.assign(y=words[table["y"]]) for table in (mine, answers)]
    found = Scoring(exam, spelled[1]).resampled(*spelled, np.arange(8_000))
    taken = time.process_time() - begun
    assert taken < 5 and Scoring(exam, spelled[1]).score(*spelled) == pytest.approx(
        Scoring(exam, answers).score(mine, answers)
    )
    assert len(found) == 1000 and np.isfinite(found).all()


def test_an_interval_of_ndcg_looks_at_each_group_once():
    """A thousand draws of ten thousand groups took longer than a grader may."""
    rng = np.random.default_rng(0)
    answers = pd.DataFrame({"query": np.arange(6000) // 6, "y": rng.integers(0, 4, 6000)})
    mine, begun = pd.DataFrame({"y": rng.random(6000)}), time.process_time()
    exam = {"metric": "ndcg@3", "task": "regression", "labels": False, "targets": ["y"], "group": "query"}
    found = Scoring(exam, answers).resampled(mine, answers, np.arange(6000))
    assert len(found) == 1000 and time.process_time() - begun < 5
    drawn = np.random.default_rng(0).integers(0, 1000, 1000)  # the first
    rows = np.concatenate([np.flatnonzero(answers["query"] == group) for group in drawn])
    again = answers.iloc[rows].assign(query=np.repeat(np.arange(1000), 6)).reset_index(drop=True)
    score = Scoring(exam, again).score(mine.iloc[rows].reset_index(drop=True), again)
    assert found[0] == pytest.approx(score)


def test_many_ranked_classes_are_drawn_less_often(monkeypatch):
    monkeypatch.setattr(exam_of_scores, "MOST_RANKED", 100_000)
    answers = pd.DataFrame({"y": np.arange(200) % 3})
    mine, columns = pd.DataFrame(np.random.default_rng(0).random((200, 3)), columns=list("012")), ["0", "1", "2"]
    for metric, draws in (("auc", 166), ("logloss", 1000)):
        exam = {"metric": metric, "task": "classes", "labels": False, "targets": columns, "truth": ["y"]}
        assert len(Scoring(exam, answers).resampled(mine, answers, np.arange(200))) == draws


@pytest.mark.parametrize(
    ("handed_in", "truth", "classes", "told"),
    [([0, 1, 2], ["hi", "lo", "hi"], ["hi", "lo"], "'y' holds no class of train.csv, but '0'; classes are 'hi', 'lo'"),
     ([0.3, 0.9, 0.1], [0, 1, 1], ["0", "1"], "holds no class of train.csv, but '0.3'"),
     ([1.0, 0.3, 0.3], [0, 1, 1], ["0", "1"], ""), (["lo", "new", "new"], ["hi", "hi", "hi"], ["hi", "lo"], ""),
     ([0, 1, 1], [True, False, True], ["False", "True"], "")],
)  # fmt: skip
def test_codes_and_probabilities_in_place_of_classes_are_told(handed_in, truth, classes, told):
    """They were wrong in every row, and a score of 0 said nothing of it."""
    columns = pd.Series(handed_in), "y", pd.Series(truth), classes
    with pytest.raises(Malformed, match=told) if told else contextlib.nullcontext():
        validate.check_labels(*columns)


# ------------------------------------------------------------ parts


@given(st.integers(16, 300), st.sampled_from(["random", "stratified"]), st.integers(0, 5))
def test_parts_are_halves_that_cover_every_row_once(count, how, seed):
    answers = pd.DataFrame({"y": np.arange(count) % 3})
    found = parts.split_hidden(answers, ["y"], how=how, seed=seed)
    assert sorted(found["validation"] + found["final"]) == list(range(count))
    assert 0 <= len(found["validation"]) - len(found["final"]) <= 1
    assert found == parts.split_hidden(answers, ["y"], how=how, seed=seed)


def test_strata_give_both_parts_and_all_blocks_their_share():
    answers = pd.DataFrame({"y": [1] * 32 + [0] * 160})
    for rows in parts.split_hidden(answers, ["y"], how="stratified", seed=0).values():
        labels = answers["y"].to_numpy()[rows]
        assert labels.sum() == 16
        assert [labels[block::8].sum() for block in range(8)] == [2] * 8


def test_time_puts_the_older_half_into_validation():
    answers = pd.DataFrame({"y": np.arange(40.0)})
    when = np.arange(40)[::-1]
    found = parts.split_hidden(answers, ["y"], how="time", seed=0, order=when)
    assert max(when[found["validation"]]) < min(when[found["final"]])


def test_no_group_is_in_both_parts():
    groups = np.repeat(np.arange(10), 7)
    found = parts.split_hidden(pd.DataFrame({"y": np.arange(70.0)}), ["y"], how="group", seed=0, groups=groups)
    assert not set(groups[found["validation"]]) & set(groups[found["final"]])


@given(st.lists(st.integers(1, 60), min_size=2, max_size=9), st.integers(0, 20))
def test_no_part_is_empty_however_large_a_group_is(sizes, seed):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    answers = pd.DataFrame({"y": np.arange(len(groups))})
    found = parts.split_hidden(answers, ["y"], how="group", seed=seed, groups=groups)
    assert found["validation"] and found["final"]
    assert sorted(found["validation"] + found["final"]) == list(range(len(groups)))


# ------------------------------------------------------------ checks


@pytest.mark.parametrize(
    "ids",
    [[7, 8, 9], [7.0, 8.0, 9.0], ["7", "8", "9"], pd.array([7, 8, 9], dtype="Int64"), np.array([7, 8, 9], "uint8")],
)
def test_an_id_is_the_same_however_it_is_typed(ids):
    assert list(validate.as_keys(pd.Series(ids))) == ["7", "8", "9"]


def test_amounts_beyond_any_id_have_names_too() -> None:
    """A column of them ended the preparation: they fit no integer."""
    assert list(validate.as_keys(pd.Series([1e30, -1e300, None, 7.0]))) == ["1e+30", "-1e+300", None, "7.0"]


def test_what_is_wrong_with_several_columns_is_told_at_once(tmp_path):
    """One at a time cost a program each."""
    answers = pd.DataFrame({"id": [1, 2], "a": [0.0, 1.0], "b": [2.0, 3.0], "c": [4.0, 5.0]})
    answers.to_csv(tmp_path / "answers.csv", index=False)
    sources = {"answers": str(tmp_path / "answers.csv"), "sample": str(tmp_path / "answers.csv")}
    form = {"id": "id", "targets": ["a", "b", "c"], "strict": True, "metric": "rmse", "task": "regression"}
    answers.assign(a=["high", "low"], c=[np.nan, 5.0]).to_csv(tmp_path / "mine.csv", index=False)
    found = Judge({**sources, **form, "labels": False}).grade(str(tmp_path / "mine.csv"), "final", interval=False)
    assert found == {
        "failure": "bad_submission",
        "message": "column 'a' must hold numbers; 2 of 2 not, such as 'high' at id 1; "
        "column 'c' has 1 missing value (NaN), such as at id 1",
    }
    with pytest.raises(Malformed, match="w1; w2; w3; and 2 more such columns"):
        validate.refuse(["w1", "w2", "w3", "w4", "w5"])


def test_rows_come_back_in_the_wanted_order():
    table = pd.DataFrame({"id": [3, 1, 2], "y": [30, 10, 20]})
    assert list(validate.check_ids(table, "id", pd.Series([1, 2, 3]))["y"]) == [10, 20, 30]


@pytest.mark.parametrize(
    ("values", "limits", "words"),
    [
        ([1.0, -2.0], {"low": 0}, "must be at least 0; 1 of 2 not, such as -2 at id b"),
        ([0.2, 1.2], {"low": 0, "high": 1}, "must be at most 1; 1 of 2 not, such as 1.2 at id b"),
        ([1.0, "x" * 100], {}, "1 of 2 not, such as 'xxxxxxxxxx"),
        ([None, 1.0], {}, "1 missing value (NaN), such as at id a"),
        ([float("-inf"), 1.0], {}, "1 infinite value, such as at id a"),
        ([10**310, 1], {}, "1 infinite value, such as at id a"),
        (["1", "-1" + "0" * 310], {}, "1 infinite value, such as at id b"),
    ],
)
def test_a_bad_value_is_named_with_its_row(values, limits, words):
    with pytest.raises(Malformed) as caught:
        validate.check_numbers(pd.Series(values, index=["a", "b"]), "y", **limits)
    assert words in str(caught.value) and len(str(caught.value)) < 200


def test_a_mean_of_probabilities_that_rounding_takes_beyond_1_is_1():
    column = pd.Series([np.nextafter(1, 2), -1e-17, 0.5, sum([0.42, 0.18, 0.4]) * 1.0])
    assert validate.check_numbers(column, "p", low=0.0, high=1.0).tolist() == [1.0, 0.0, 0.5, 1.0]
    with pytest.raises(Malformed, match="must be at most 1"):
        validate.check_numbers(column + 1e-6, "p", low=0.0, high=1.0)


def test_a_whole_number_of_more_than_64_bits_is_a_number():
    """A column of such was the grader's own fault: int too large to convert to float."""
    assert list(validate.check_numbers(pd.Series([10**30, 1]), "y")) == [1e30, 1.0]


def test_truth_values_are_numbers():
    assert list(validate.check_numbers(pd.Series([True, False]), "y")) == [1.0, 0.0]


@given(st.lists(st.one_of(st.text(max_size=8), st.floats(), st.none(), st.integers(), st.booleans()), max_size=12))
def test_whatever_a_column_holds_it_is_numbers_or_malformed(values):
    column = pd.Series(values, dtype=object)
    try:
        checked = validate.check_numbers(column, "y")
    except Malformed:
        return
    assert np.isfinite(checked.to_numpy()).all() and len(checked) == len(values)


# ------------------------------------------------------------ mlebench


def test_a_folder_imports_what_it_needs_from_mlebench(tmp_path):
    folder = tmp_path / "my-comp"
    folder.mkdir()
    (folder / "helper.py").write_text("FACTOR = 3\n")
    (folder / "grade.py").write_text(
        "from mlebench.grade_helpers import InvalidSubmissionError\n"
        "from mlebench.utils import read_csv, load_answers, get_logger, extract, is_empty\n"
        "from mlebench.competitions.utils import df_to_one_hot, prepare_for_accuracy_metric, get_logger\n"
        "from tqdm import tqdm\n"
        "from tqdm.auto import tqdm\n"
        "from .helper import FACTOR\n"
        "def grade(submission, answers):\n"
        "    if not len(submission):\n"
        "        raise InvalidSubmissionError('empty')\n"
        "    return FACTOR + len(list(tqdm([1, 2], desc='x')))\n"
    )
    grade = shim.import_function(folder, "mlebench.competitions.my-comp.grade:grade")
    assert grade([1], []) == 5
    with pytest.raises(shim.InvalidSubmissionError):
        grade([], [])


def test_competitions_may_share_a_file_beside_them(tmp_path):
    folder = tmp_path / "competitions" / "first-one"
    folder.mkdir(parents=True)
    (folder.parent / "sharing.py").write_text("def half(n):\n    return n // 2\n")
    (folder / "prepare.py").write_text(
        "from mlebench.competitions.sharing import half\n\n\ndef prepare(n):\n    return half(n)\n"
    )
    assert shim.import_function(folder, "mlebench.competitions.first-one.prepare:prepare")(8) == 4


def test_archives_inside_archives_are_unpacked(tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "inner.zip", "w") as inner:
        inner.writestr("deep.csv", "a\n1\n")
    with zipfile.ZipFile(tmp_path / "outer.zip", "w") as outer:
        outer.write(tmp_path / "inner.zip", "inner.zip")
    shim.extract(tmp_path / "outer.zip", tmp_path / "out", recursive=True)
    assert (tmp_path / "out" / "deep.csv").read_text() == "a\n1\n"


def test_an_empty_file_is_an_empty_table(tmp_path):
    (tmp_path / "x.csv").write_text("")
    assert shim.read_csv(tmp_path / "x.csv").empty


LABELS = pd.DataFrame({"id": ["b", "a", "c"], "kind": ["x", "y", "x"]})
HELPERS = helpers.helpers(shim.InvalidSubmissionError)


def test_one_hot_tables_and_their_log_loss():
    truth = HELPERS["df_to_one_hot"](LABELS, "id", "kind", ["x", "y"])
    assert truth.to_dict("list") == {"id": ["b", "a", "c"], "x": [1, 0, 1], "y": [0, 1, 0]}
    guess = pd.DataFrame({"id": ["a", "b", "c"], "x": [0.5, 0.5, 0.5], "y": [0.5, 0.5, 0.5]})
    made = HELPERS["one_hot_dfs_to_log_loss_inputs"](guess, truth, apply_softmax=False)
    assert made["y_true"].tolist() == [[0, 1], [1, 0], [1, 0]]  # by id
    assert HELPERS["one_hot_dfs_to_log_loss_inputs"](guess, truth)["y_pred"].sum() == 3


@pytest.mark.parametrize("change", [{"id": ["a", "b", "d"]}, {"id": ["a", "b"]}, {"key": ["a", "b", "c"]}])
def test_a_submission_of_other_rows_is_refused_by_every_helper(change):
    size = len(next(iter(change.values())))
    guess = pd.DataFrame({**change, "kind": ["x"] * size})
    with pytest.raises(shim.InvalidSubmissionError):
        HELPERS["prepare_for_accuracy_metric"](guess, LABELS, "kind", "id")
    with pytest.raises(shim.InvalidSubmissionError):
        HELPERS["prepare_for_auroc_metric"](guess.assign(kind=0.5), LABELS, "id", "kind")


def test_chances_outside_of_0_to_1_are_refused():
    with pytest.raises(shim.InvalidSubmissionError, match="between 0 and 1"):
        HELPERS["prepare_for_auroc_metric"](LABELS.assign(kind=[0.1, 1.2, 0.3]), LABELS, "id", "kind")


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_run_lengths_come_back_as_the_mask(height, width, seed):
    mask = np.random.default_rng(seed).random((height, width)) < 0.5
    text = " ".join(map(str, HELPERS["rle_encode"](mask)))
    assert (HELPERS["rle_decode"](text, height, width) == mask).all()


def test_run_lengths_by_hand():
    assert HELPERS["rle_encode"](np.array([[0, 1], [1, 1]])) == [2, 3]  # down the columns, from 1
    with pytest.raises(AssertionError, match="overlap"):
        HELPERS["rle_decode"]("1 3 2 1", 2, 2)


# ------------------------------------------------------------ medals


@pytest.mark.parametrize(
    ("teams", "places"),
    [(1, (1, 1, 1)), (50, (5, 10, 20)), (99, (9, 19, 39)), (100, (10, 20, 40)), (249, (10, 49, 99)),
     (250, (10, 50, 100)), (999, (11, 50, 100)), (1000, (12, 50, 100)), (5000, (20, 250, 500))],
)  # fmt: skip
def test_thresholds_are_those_of_mle_bench(teams, places):
    needed = thresholds([float(place) for place in range(1, teams + 1)])
    assert (needed["gold"], needed["silver"], needed["bronze"]) == places
    assert needed["median"] == (teams + 1) / 2


@pytest.mark.parametrize(
    ("score", "won", "above"), [(1.0, "gold", True), (7.0, "silver", True), (20.0, "bronze", True), (30.0, None, False)]
)
def test_medals_where_lower_is_better(score, won, above):
    found = medal(score, [float(place) for place in range(1, 51)], True)
    assert (found["medal"], found["above_median"]) == (won, above)


def test_medals_where_higher_is_better_and_none_without_leaderboard():
    assert medal(0.95, [0.9, 0.8, 0.7], False)["medal"] == "gold"
    assert medal(0.95, [], False) == {}


@pytest.mark.parametrize(
    "text",
    ["id,y" + "," * 2_000_000, "id,y\n1" + ",2" * 2_000_000, '"i\nd",' + "y," * 2_000_000, "\n \n" + "a," * 20_000],
)
def test_a_submission_of_a_million_columns_is_refused_at_once(tmp_path, text):
    (tmp_path / "submission.csv").write_text(text)
    began = time.process_time()
    with pytest.raises(Malformed, match="more than 10,000 columns"):
        read_submission(tmp_path / "submission.csv")
    assert time.process_time() - began < 3


def test_a_child_that_reads_tables_cannot_take_all_memory():
    """SQLite makes a column of 300 MB a row of one line in a stranger's database."""
    code = (
        "import importlib.util, resource, sys\n"
        "spec = importlib.util.spec_from_file_location('launch', sys.argv[1])\n"
        "launch = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(launch)\n"
        "launch._limit_memory()\n"
        "print(resource.getrlimit(resource.RLIMIT_DATA)[0])\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, launch.__file__], capture_output=True, text=True, check=True
    ).stdout
    assert 0 < int(told) < os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
