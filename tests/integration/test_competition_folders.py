"""MLE-bench folders as they are, and the user's own data."""

import csv
import json
from pathlib import Path

import pytest
from support.chat_server import ChatServer
from support.competition_stand import Stand, column, writes

from core.contracts import Limits
from problems.competition.problem import build
from utils.config import load_config
from utils.errors import ConfigError, SwarmEvoError

CONFIG = """id: wine-quality
name: Wine
competition_type: simple
awards_medals: true
prizes: null
description: mlebench/competitions/wine-quality/description.md
dataset:
  answers: wine-quality/prepared/private/{answers}
  sample_submission: wine-quality/prepared/public/sample_submission.csv
grader:
  name: points
  grade_fn: mlebench.competitions.wine-quality.grade:grade
preparer: mlebench.competitions.wine-quality.prepare:prepare
"""
PREPARE = """from pathlib import Path

from mlebench.competitions.utils import get_logger
from mlebench.utils import extract, read_csv

logger = get_logger(__name__)


def prepare(raw: Path, public: Path, private: Path):
    print("a print of prepare must not break our frames")
    extract(raw / "wine.zip", raw)
    wine = read_csv(raw / "wine.csv")
    train, test = wine[:100], wine[100:]
    train.to_csv(public / "train.csv", index=False)
    test.drop(columns="quality").to_csv(public / "test.csv", index=False)
    test[["wine_id", "quality"]].to_csv(private / "test.csv", index=False)
    test[["wine_id"]].assign(quality=5.0).to_csv(public / "sample_submission.csv", index=False)
"""
GRADE = """import pandas as pd

from mlebench.grade_helpers import InvalidSubmissionError


def grade(submission: pd.DataFrame, answers: pd.DataFrame) -> float:
    if len(submission) != len(answers):
        raise InvalidSubmissionError("wrong number of rows")
    if submission["quality"].min() < 0:
        raise InvalidSubmissionError("quality must not be negative")
    if submission["quality"].max() == 999:
        return float("nan")
    if submission["quality"].max() > 1000:
        raise ZeroDivisionError("the grader itself is broken")
    if submission["quality"].max() == 998:
        raise SystemExit("so much is in no wine")
    error = (submission["quality"] - answers["quality"]).abs().mean()
    for table in (submission, answers):  # as graders may, who get tables of their own
        table["points"] = table.pop("quality")
    return int(round(error * 1000))
"""


def mle_folder(
    root: Path, *, leaderboard: str | None = "score\n100\n200\n300\n400\n500\n600\n700\n800\n900\n1000\n"
) -> Path:
    import zipfile

    folder = root / "mlebench" / "competitions" / "wine-quality"
    (folder / "raw").mkdir(parents=True)
    for name, text in (
        ("config.yaml", CONFIG.format(answers="test.csv")),
        ("prepare.py", PREPARE),
        ("grade.py", GRADE),
    ):
        (folder / name).write_text(text)
    (folder / "description.md").write_text("# Wine\nPredict the quality.")
    if leaderboard:
        (folder / "leaderboard.csv").write_text(leaderboard)
    rows = [f"W{i},{i % 7},{i % 11},{(i % 7) + (i % 3)}" for i in range(200)]
    with zipfile.ZipFile(folder / "raw" / "wine.zip", "w") as archive:
        archive.writestr("wine.csv", "\n".join(["wine_id,acid,sugar,quality", *rows]))
    return folder


@pytest.fixture
def stand(tmp_path):
    made = []

    def build_stand(*words, **options):
        made.append(Stand(tmp_path, *words, **options))
        return made[-1]

    yield build_stand
    for each in made:
        each.close()


# ------------------------------------------------------------ MLE-bench


@pytest.fixture(scope="module")
def wine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wine")
    stand = Stand(folder, f"problem.path={mle_folder(folder)}")
    yield stand
    stand.close()


def test_an_unmodified_folder_is_prepared_split_graded_and_ranked(wine):
    assert wine.problem.name == "competition/wine-quality"
    assert wine.problem.lower_is_better  # the leaderboard's order
    assert "Predict the quality" in wine.problem.statement()
    node, verdict = wine.score(writes("pass"))
    assert verdict.failure is None and verdict.metric > 0 and verdict.metadata == {}
    assert len(verdict.signature) == 8
    (final,) = wine.evaluator.final([node])
    assert final.metric > 0 and final.interval[0] <= final.metric <= final.interval[1]
    assert final.metadata["thresholds"] == {"gold": 100.0, "silver": 200.0, "bronze": 400.0, "median": 550.0}
    assert final.metadata["medal"] is None and final.metadata["above_median"] is False
    halves = sorted((verdict.metric, final.metric))
    assert halves[0] < final.metadata["whole_test"] < halves[1], "all hidden rows, as published scores are counted"


def test_the_whole_test_set_is_scored_unless_the_user_says_otherwise(tmp_path, stand, inline):
    part = stand(f"problem.path={mle_folder(tmp_path)}", "final=part")
    node, _ = part.score(writes("pass"))
    (final,) = part.evaluator.final([node])
    assert final.metric > 0 and "whole_test" not in final.metadata


def test_the_folder_is_left_as_it_was(wine):
    wine.score(writes("pass"))
    folder = wine.run_dir.parents[1] / "mlebench" / "competitions" / "wine-quality"
    found = {str(path.relative_to(folder)) for path in folder.rglob("*")} - {
        "raw/wine.csv"
    }  # its prepare unpacks there
    assert found == {
        "config.yaml", "description.md", "grade.py", "leaderboard.csv", "prepare.py", "raw", "raw/wine.zip",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "failure", "words"),
    [
        ("for row in rows: row['quality'] = '-1'", "bad_submission", "quality must not be negative"),
        ("rows.pop()", "bad_submission", "needs 100 rows, has 99"),
        ("for row in rows: row['quality'] = '999'", "non_finite", "the score is nan"),
        ("for row in rows: row['quality'] = '5000'", "eval_error", "ZeroDivisionError: the grader itself is broken"),
        ("for row in rows: row['quality'] = '998'", "eval_error", "ends the process (sys.exit: so much is in no wine)"),
        ("for row in rows: row['quality'] = ''", "eval_error", "cannot convert float NaN"),
    ],
)
def test_faults_of_the_submission_and_of_the_grader_are_told_apart(wine, change, failure, words):
    _, verdict = wine.score(writes(change))
    assert verdict.failure == failure and words in verdict.message


def test_the_direction_is_asked_for_where_nothing_tells_it(tmp_path):
    folder = mle_folder(tmp_path, leaderboard=None)
    with pytest.raises(ConfigError, match=r"--problem\.direction=min or max"):
        build(load_config(None, [f"problem.path={folder}"]), tmp_path)
    assert build(load_config(None, [f"problem.path={folder}", "problem.direction=min"]), tmp_path).lower_is_better


def test_a_leaderboard_of_falling_scores_means_higher_is_better(tmp_path):
    folder = mle_folder(tmp_path, leaderboard="score\n0.9\n0.8\n0.1\n")
    assert not build(load_config(None, [f"problem.path={folder}"]), tmp_path).lower_is_better


def test_the_config_goes_before_the_leaderboard(tmp_path):
    folder = mle_folder(tmp_path)
    with (folder / "config.yaml").open("a") as file:
        file.write("direction: max\n")
    assert not build(load_config(None, [f"problem.path={folder}"]), tmp_path).lower_is_better


def prepared_folder(tmp_path: Path, answers: str, text: str) -> Path:
    folder = mle_folder(tmp_path)
    (folder / "config.yaml").write_text(CONFIG.format(answers=answers))
    for part in ("public", "private"):
        (folder / "prepared" / part).mkdir(parents=True)
    public = folder / "prepared" / "public"
    public.joinpath("sample_submission.csv").write_text("wine_id,quality\n" + "".join(f"W{i},5\n" for i in range(40)))
    (folder / "prepared" / "private" / answers).write_text(text)
    return folder


def test_answers_that_are_not_keyed_are_not_split_and_the_output_says_so(tmp_path, stand):
    text = "quality\n" + "".join(f"{i % 9}\n" for i in range(40))
    wine = stand(f"problem.path={prepared_folder(tmp_path, 'hidden.csv', text)}")
    node, verdict = wine.score(writes("pass"))
    assert verdict.metric > 0
    assert verdict.metadata["medal"] is None and "thresholds" in verdict.metadata
    (final,) = wine.evaluator.final([node])
    assert final.metric is None
    assert "not a table keyed by the sample submission's id column" in final.message
    assert final.message.endswith(wine.problem.note)


@pytest.mark.long
def test_a_submission_with_a_column_for_each_class_is_understood(tmp_path, stand):
    text = "wine_id,red,white\n" + "".join(f"W{i},{i % 2},{1 - i % 2}\n" for i in range(40))
    folder = prepared_folder(tmp_path, "test.csv", text)
    (folder / "grade.py").write_text(
        "def grade(submission, answers):\n    return float(((submission['red'] - answers['red']) ** 2).mean())\n"
    )
    public = folder / "prepared" / "public"
    head, rows = "wine_id,acid,colour", [f"V{i},{i % 2},{'red' if i % 2 else 'white'}" for i in range(80)]
    (public / "train.csv").write_text("\n".join([head, *rows]))
    (public / "test.csv").write_text("\n".join(["wine_id,acid", *(f"W{i},{i % 2}" for i in range(40))]))
    (public / "sample_submission.csv").write_text("wine_id,red,white\n" + "".join(f"W{i},0.5,0.5\n" for i in range(40)))
    wine = stand(f"problem.path={folder}")
    dummy, linear, _ = wine.problem.baselines()
    assert wine.score(dummy.code)[1].metric == 0.25
    assert wine.score(linear.code)[1].metric < 0.05


def test_keyed_answers_prepared_by_somebody_else_are_used_in_place(tmp_path, stand):
    text = "wine_id,quality\n" + "".join(f"W{i},{i % 9}\n" for i in range(40))
    folder = prepared_folder(tmp_path, "test.csv", text)
    wine = stand(f"problem.path={folder}")
    assert wine.problem.input_dir == folder / "prepared" / "public"
    node, verdict = wine.score(writes("pass"))
    assert verdict.metric > 0
    assert wine.evaluator.final([node])[0].metric > 0


def test_a_prepared_folder_that_only_its_owner_may_open_works(tmp_path, stand):
    text = "wine_id,quality\n" + "".join(f"W{i},{i % 9}\n" for i in range(40))
    folder = prepared_folder(tmp_path, "test.csv", text)
    close(folder / "prepared")
    wine = stand(f"problem.path={folder}")
    assert wine.score(writes("open('input/sample_submission.csv').read()"))[1].failure is None
    assert modes(folder / "prepared") == {0o700, 0o600}, "what is the user's stays as it is"


def test_a_pointer_where_answers_should_be_is_named(tmp_path):
    folder = prepared_folder(tmp_path, "test.csv", "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n")
    with pytest.raises(ConfigError, match=r"test\.csv' is a Git-LFS pointer.*git lfs pull"):
        build(load_config(None, [f"problem.path={folder}"]), tmp_path).prepare()


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n"


def test_a_pointer_in_place_of_the_leaderboard_costs_the_medals_where_the_direction_is_known(tmp_path, stand):
    text = "wine_id,quality\n" + "".join(f"W{i},{i % 9}\n" for i in range(40))
    folder = prepared_folder(tmp_path, "test.csv", text)
    (folder / "leaderboard.csv").write_text(POINTER)
    wine = stand(f"problem.path={folder}", "problem.direction=min")
    assert "leaderboard.csv is a Git-LFS pointer: no medals" in wine.problem.note
    assert wine.score(writes("pass"))[1].metric > 0


def test_a_sample_submission_of_another_name_is_where_programs_look(tmp_path, stand):
    text = "wine_id,quality\n" + "".join(f"W{i},{i % 9}\n" for i in range(40))
    folder = prepared_folder(tmp_path, "test.csv", text)
    public = folder / "prepared" / "public"
    (public / "sample_submission.csv").rename(public / "sampleSubmission.csv")
    config = folder / "config.yaml"
    config.write_text(config.read_text().replace("sample_submission.csv", "sampleSubmission.csv"))
    wine = stand(f"problem.path={folder}")
    assert wine.score(wine.problem.baselines()[0].code)[1].metric is not None
    assert sorted(path.name for path in public.glob("sample*")) == ["sampleSubmission.csv"], "the user's stays as it is"


def test_a_prepare_that_fails_is_the_folders_fault(tmp_path):
    folder = mle_folder(tmp_path)
    (folder / "raw" / "wine.zip").unlink()
    with pytest.raises(ConfigError, match="its prepare failed: FileNotFoundError"):
        build(load_config(None, [f"problem.path={folder}"]), tmp_path).prepare()
    assert not list((tmp_path / "workspaces" / ".prepared").iterdir())


def test_a_folder_without_data_says_where_it_looked(tmp_path):
    import shutil

    folder = mle_folder(tmp_path)
    shutil.rmtree(folder / "raw")
    with pytest.raises(
        ConfigError, match=r"needs prepared/public and prepared/private, or raw/.*problem\.options\.data"
    ):
        build(load_config(None, [f"problem.path={folder}"]), tmp_path)


# ------------------------------------------------------------ own data


def own_data(folder: Path, rows: int = 120, test: int = 10) -> Path:
    folder.mkdir()
    with (folder / "train.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["flat", "size", "street", "day", "rent", "kind"])
        for i in range(rows):
            writer.writerow(
                [f"F{i}", i % 13, f"street {i % 10}", f"2024-{1 + i // 28:02d}-{1 + i % 28:02d}", i * 10, "ab"[i % 2]]
            )
    with (folder / "test.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["flat", "size", "street", "day", "kind"])
        for i in range(test):
            writer.writerow([f"T{i}", i % 13, f"street {i % 10}", "2025-01-01", "a"])
    (folder / "streets.txt").write_text("more")
    return folder


SCORED = ("data.target=rent", "data.metric=mae", "data.goal=guess the rent")


def named_by_row(path: Path) -> list[tuple[str, str]]:
    return list(zip(column(path, "row_id"), column(path, "flat"), strict=True))


def test_hidden_rows_are_carved_and_the_users_rows_are_what_is_exported(tmp_path, stand):
    rent = stand(f"data.dir={own_data(tmp_path / 'mine')}", *SCORED)
    public = rent.problem.input_dir
    train, test = column(public / "train.csv", "flat"), column(public / "test.csv", "flat")
    assert len(train) == 84 and len(test) == 36 + 10
    assert not set(train) & set(test)
    assert {f"T{i}" for i in range(10)} < set(test)
    assert (public / "streets.txt").is_file()
    assert "guess the rent" in rent.problem.statement() and "MAE" in rent.problem.statement()
    assert min(int(key) for key, flat in named_by_row(public / "test.csv") if flat[0] == "T") < 120, "as hidden ones"
    node, verdict = rent.score(writes("for number, row in enumerate(rows): row['rent'] = number"))
    assert verdict.metric > 0
    assert rent.evaluator.final([node])[0].metric > 0
    rent.problem.export(node, tmp_path / "best", rent.run_dir)
    with (tmp_path / "best" / "submission.csv").open(newline="") as file:
        exported = list(csv.reader(file))
    assert exported[0] == ["flat", "rent"]
    assert [row[0] for row in exported[1:]] == [f"T{i}" for i in range(10)]
    places = dict(named_by_row(public / "test.csv"))
    order = [places[key] for key in column(public / "sample_submission.csv", "row_id")]
    assert {name: int(value) for name, value in exported[1:]} == {f"T{i}": order.index(f"T{i}") for i in range(10)}
    usual = (tmp_path / "best" / "submission.csv").read_text()
    for odd in ("'\\ufeff' + text", "'\\n' + text", "text.replace('\\n', '\\n  \\n')"):  # pandas passes over them
        numbered = writes("for number, row in enumerate(rows): row['rent'] = number")
        rewritten = f"name = file.name\ntext = open(name).read()\nopen(name, 'w').write({odd})\n"
        node, verdict = rent.score(numbered + rewritten)
        rent.problem.export(node, tmp_path / "best", rent.run_dir)
        assert verdict.metric > 0 and (tmp_path / "best" / "submission.csv").read_text() == usual
    kept = rent.evaluator.submission_of(node)
    kept.write_text(kept.read_text().replace("\n", "\n9"))
    with pytest.raises(ConfigError, match="is of other rows than are hidden now: another version prepared the data"):
        rent.problem.export(node, tmp_path / "best", rent.run_dir)


def close(folder: Path) -> None:
    """Only the owner may open the folder and what is in it."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)


def modes(folder: Path) -> set[int]:
    return {path.stat().st_mode & 0o777 for path in (folder, *folder.rglob("*"))}


def test_a_data_folder_that_only_its_owner_may_open_works(tmp_path, stand):
    """Candidates run as another user where we are root: the modes of the user's files must not reach `input/`."""
    folder = own_data(tmp_path / "mine")
    (folder / "pictures" / "old").mkdir(parents=True)
    (folder / "pictures" / "old" / "a.txt").write_text("a picture")
    close(folder)
    rent = stand(f"data.dir={folder}", *SCORED)
    reads = "open('input/pictures/old/a.txt').read(); open('input/train.csv').read()"
    assert rent.score(writes(reads))[1].failure is None
    assert modes(rent.problem.input_dir) == {0o755, 0o644}
    assert modes(folder) == {0o700, 0o600}


def test_labels_are_for_our_user_alone_and_a_refit_leaves_none_behind(tmp_path, stand):
    rent = stand(f"data.dir={own_data(tmp_path / 'mine')}", *SCORED)
    private = rent.problem.input_dir.parent / "private"
    assert {path.name for path in private.iterdir()} >= {"answers.csv", "exam.json"}
    assert modes(private) == {0o700, 0o600}
    node, _ = rent.score(writes("pass"))
    before = sorted(private.parent.rglob("*"))
    rent.problem.refit(node, tmp_path / "best", rent.jobs, Limits())
    assert sorted(private.parent.rglob("*")) == before and modes(private) == {0o700, 0o600}


def test_labels_that_were_prepared_before_are_closed_too(tmp_path, stand, inline):
    words = (f"data.dir={own_data(tmp_path / 'mine')}", *SCORED)
    private = stand(*words).problem.input_dir.parent / "private"
    private.chmod(0o755)
    (private / "answers.csv").chmod(0o644)
    stand(*words)
    assert modes(private) == {0o700, 0o600}


def test_labels_of_hidden_rows_are_in_no_public_file(tmp_path, stand, inline):
    rent = stand(f"data.dir={own_data(tmp_path / 'mine')}", *SCORED)
    public = rent.problem.input_dir
    assert "rent" not in (public / "test.csv").read_text().splitlines()[0].split(",")
    assert len(set(column(public / "sample_submission.csv", "rent"))) == 1


def test_a_refit_sees_all_labels_and_predicts_only_the_users_rows(tmp_path, stand, inline):
    rent = stand(f"data.dir={own_data(tmp_path / 'mine')}", *SCORED)
    code = writes("n = sum(1 for _ in open('input/train.csv')) - 1\nfor row in rows: row['rent'] = n")
    node, _ = rent.score(code)
    rent.problem.refit(node, tmp_path / "best", rent.jobs, Limits())
    assert column(tmp_path / "best" / "submission.csv", "rent") == ["120"] * 10
    for fault, told in (("rows[0]['rent'] = 'nan'", "1 missing value"), ("rows.pop()", "1 id of test.csv is missing")):
        node, verdict = rent.score(writes(f"if sum(1 for _ in open('input/train.csv')) > 120: {fault}"))
        with pytest.raises(SwarmEvoError, match=f"the refit of node {node.id} failed: .*{told}"):
            rent.problem.refit(node, tmp_path / "best", rent.jobs, Limits())
        assert verdict.failure is None and column(tmp_path / "best" / "submission.csv", "rent") == ["120"] * 10


def test_time_hides_the_newest_rows(tmp_path, stand, inline):
    rent = stand(f"data.dir={own_data(tmp_path / 'mine')}", *SCORED, "data.split=time:day")
    public, private = rent.problem.input_dir, rent.problem.input_dir.parent / "private"
    assert max(column(public / "train.csv", "day")) <= min(d for d in column(public / "test.csv", "day"))
    exam = json.loads((private / "exam.json").read_text())
    labels = [int(value) for value in column(private / "answers.csv", "rent")]  # rents grow with time
    newest = max(labels[row] for row in exam["parts"]["validation"])
    assert newest < min(labels[row] for row in exam["parts"]["final"])


def test_groups_are_hidden_whole(tmp_path, stand, inline):
    rent = stand(f"data.dir={own_data(tmp_path / 'mine', test=0)}", *SCORED, "data.split=group:street")
    public = rent.problem.input_dir
    assert not set(column(public / "train.csv", "street")) & set(column(public / "test.csv", "street"))


def test_equal_rows_are_hidden_together_and_until_then_doubted_beside_the_verdict(tmp_path, stand, inline):
    folder = own_data(tmp_path / "mine", test=0)
    header, *rows = (folder / "train.csv").read_text().splitlines()
    (folder / "train.csv").write_text("\n".join([header, *rows, *rows]) + "\n")  # each house twice
    random = stand(f"data.dir={folder}", *SCORED).problem
    numbered, doubt = random.cautions
    assert numbered.startswith("possible leak: flat has a number that tells rent exactly")  # F7 is let for 70
    assert "equal a training row in every feature" in doubt and doubt in random.note
    apart = stand(f"data.dir={folder}", *SCORED, "data.split=distinct").problem
    public, private = apart.input_dir, apart.input_dir.parent / "private"
    (name, days), exam = ("day", column(public / "test.csv", "day")), json.loads((private / "exam.json").read_text())
    assert not set(column(public / "train.csv", name)) & set(days) and apart.cautions == (numbered,)
    labels = column(private / "answers.csv", "rent")
    parts = [{labels[row] for row in exam["parts"][part]} for part in ("validation", "final")]
    assert parts[0] and parts[1] and not parts[0] & parts[1]


@pytest.mark.parametrize(("classes", "told"), [(("ja", "nein"), "counts 'nein' as 1"), (("no", "yes"), "")])
def test_the_class_that_a_metric_counts_is_told_where_its_name_does_not(tmp_path, stand, inline, classes, told):
    folder = own_data(tmp_path / "mine", test=0)
    text = (folder / "train.csv").read_text()
    for old, new in zip(("a", "b"), classes, strict=True):
        text = text.replace(f",{old},", f",{new},").replace(f",{old}\n", f",{new}\n")
    (folder / "train.csv").write_text(text)
    for metric in ("f1", "auc"):
        note = stand(f"data.dir={folder}", "data.target=kind", f"data.metric={metric}").problem.note
        assert (told in note) if told else ("counts" not in note)


def test_strata_keep_the_share_of_each_class(tmp_path, stand, inline):
    words = (f"data.dir={own_data(tmp_path / 'mine', test=0)}", "data.target=kind", "data.metric=accuracy")
    kinds = column(stand(*words, "data.split=stratified").problem.input_dir / "train.csv", "kind")
    assert kinds.count("a") == kinds.count("b")


def test_text_classes_are_scored_by_probability_and_by_label(tmp_path, stand, inline):
    folder = own_data(tmp_path / "mine", test=0)
    auc = stand(f"data.dir={folder}", "data.target=kind", "data.metric=auc")
    assert auc.score(writes("for row in rows: row['kind'] = 0.5"))[1].metric == 0.5
    _, verdict = auc.score(writes("for row in rows: row['kind'] = 'b'"))
    assert "must hold numbers" in verdict.message
    accuracy = stand(f"data.dir={folder}", "data.target=kind", "data.metric=accuracy")
    assert 0.2 < accuracy.score(writes("for row in rows: row['kind'] = 'b'"))[1].metric < 0.8


REFUSED = {
    "data.target=price data.metric=mae": "data.target=price: no such column",
    "data.target=rent data.metric=profit": "data.metric=profit: unknown metric; allowed: rmse",
    "data.target=kind data.metric=rmse": "data.metric=rmse needs a column of numbers; 'kind' holds text",
    "data.target=street data.metric=f1": "data.metric=f1 needs two classes; 'street' has 10",
    "data.target=street data.metric=qwk": "data.metric=qwk needs grades that are whole numbers, or their order",
    "data.target=street data.metric=kappa": "data.metric=kappa: say which: qwk (quadratic weighted, as for grades) or",
    "data.target=street data.metric=weighted_kappa": "data.metric=weighted_kappa: say which: qwk (quadratic",
    "data.target=rent data.metric=mape": "data.metric=mape divides by the label; 'rent' is 0 in 1 row",
    "data.target=rent data.metric=quantile@2": "data.metric=quantile@2: unknown metric",
    "data.target=rent data.metric=map@5": "data.metric=map@5 compares classes; 'rent' has 120 values",
    "data.target=rent,kind data.metric=mae": "data.metric=mae needs a column of numbers; 'kind' holds text",
    "data.target=street,kind data.metric=map@2": "data.metric=map@2 takes one target; data.target names 2",
    "data.target=rent data.metric=msre": "unknown metric (did you mean 'mse'?)",
    "data.target=rent data.metric=accuracy": "data.metric=accuracy compares classes; 'rent' has 120 values in 120 rows",
    "data.target=rent data.metric=mae data.split=time:hour": "no such column 'hour'",
    "data.target=rent data.metric=mae data.split=time:kind": "neither numbers nor dates of one format",
    "data.target=rent data.metric=mae data.split=group:kind": "2 groups; at least 4 are needed",
    "data.target=rent data.metric=mae problem.direction=max": "MAE is min",
    "data.target=rent data.metric=mae problem.options.split_seed=x": "problem.options.split_seed='x'",
    "data.goal=rents": "give --data.target=COLUMN and --data.metric=NAME (of numbers",
    "data.target=rent": "give --data.metric=NAME (of numbers",
}


@pytest.mark.parametrize(("words", "message"), REFUSED.items())
def test_what_cannot_be_used_is_refused_in_one_line(tmp_path, inline, words, message):
    folder = own_data(tmp_path / "mine")
    with pytest.raises(ConfigError) as caught:
        build(load_config(None, [f"data.dir={folder}", *words.split()]), tmp_path).prepare()
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"rent\n" + b"".join(b"%d\n" % i for i in range(60)), "train.csv has no other column to predict it from"),
        (
            b"size,rent\n" + b"".join(b"%d,%d\n" % (i, i % 2) for i in range(60)),
            "is for numbers, and 'rent' holds only 0 and 1",
        ),
        (b"PK\x03\x04 a broken archive", "train.csv' is a broken zip file"),
        (b"size,rent\n" + b"1,inf\n" * 9 + b"2,3\n" * 60, "9 labels are infinite"),
    ],
)
def test_a_table_that_cannot_be_used_is_told_in_one_line(tmp_path, inline, content, message):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "train.csv").write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        build(load_config(None, [f"data.dir={tmp_path / 'mine'}", *SCORED]), tmp_path).prepare()
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_a_test_table_of_other_columns_is_told(tmp_path, inline):
    folder = own_data(tmp_path / "mine")
    (folder / "test.csv").write_text("rent,colour\n1,red\n")
    with pytest.raises(ConfigError, match=r"test\.csv shares no column with train\.csv; it has colour"):
        build(load_config(None, [f"data.dir={folder}", *SCORED]), tmp_path).prepare()


def test_a_measure_is_not_taken_for_the_name_of_a_row(tmp_path, inline):
    folder = own_data(tmp_path / "mine")
    (folder / "test.csv").write_text("size,kind,uid\n" + "".join(f"{i}.5,a,{i // 2}\n" for i in range(9)))
    problem = build(load_config(None, [f"data.dir={folder}", *SCORED]), tmp_path)
    problem.prepare()
    kept = json.loads((problem.input_dir.parent / "private" / "user_rows.json").read_text())
    assert kept["column"] == "row" and sorted(kept["rows"].values()) == list("012345678")
    told = "uid of test.csv does not name each row once: in submission.csv rows are numbered from 0"
    assert told in problem.note


def test_tables_that_do_not_match_are_told_before_the_search(tmp_path, inline):
    folder = own_data(tmp_path / "mine")
    (folder / "test.csv").write_text("flat,size,colour\n" + "".join(f"T{i},{i}.5,red\n" for i in range(9)))
    (folder / "sample_submission.csv").write_text("flat,price\nT0,0\n")
    problem = build(load_config(None, [f"data.dir={folder}", *SCORED]), tmp_path)
    problem.prepare()
    assert "test.csv has no column street, day, kind: nor have the rows that scores are of" in problem.note
    assert "train.csv has no column colour: left out of test.csv" in problem.note
    assert "in sample_submission.csv price is rent" in problem.note
    assert "sample_submission.csv lacks 8 ids of test.csv, such as T1" in problem.note


def test_ids_that_begin_anew_in_the_test_table_are_still_the_users(tmp_path, inline):
    folder = own_data(tmp_path / "mine")
    for name in ("train.csv", "test.csv"):
        head, *rows = (folder / name).read_text().splitlines()
        numbered = [f"{head},id", *(f"{row},{number}" for number, row in enumerate(rows))]
        (folder / name).write_text("\n".join(numbered) + "\n")
    (folder / "sample_submission.csv").write_text("id,rent\n" + "".join(f"{i},0\n" for i in range(10)))
    problem = build(load_config(None, [f"data.dir={folder}", *SCORED]), tmp_path)
    problem.prepare()
    kept = json.loads((problem.input_dir.parent / "private" / "user_rows.json").read_text())
    assert kept["column"] == "id" and list(map(int, kept["rows"].values())) == list(range(10))
    assert len(set(column(problem.input_dir / "test.csv", "row_id"))) == 36 + 10


@pytest.mark.parametrize("place", [".", "flats"])
def test_data_in_the_folder_that_one_works_in(tmp_path, inline, place):
    """What we keep in that folder (labels of earlier preparations, stores) is copied into no `input/`."""
    own_data(tmp_path / "work")
    project = tmp_path / "work" / place
    words = [f"data.dir={tmp_path / 'work'}", f"project.dir={project}", *SCORED]
    (tmp_path / "work" / "gone.txt").symlink_to(tmp_path / "nowhere")
    for seed in (0, 1):  # the second finds the labels of the first inside the data folder
        problem = build(load_config(None, [*words, f"problem.options.split_seed={seed}"]), project)
        problem.prepare()
    found = [str(path.relative_to(problem.input_dir)) for path in problem.input_dir.rglob("*")]
    assert "streets.txt" in found and "gone.txt" not in found
    assert not [name for name in found if "answers" in name or "workspaces" in name]


def test_a_changed_file_beside_the_tables_is_prepared_anew(tmp_path, inline):
    folder = own_data(tmp_path / "mine")

    def told() -> str:
        problem = build(load_config(None, [f"data.dir={folder}", *SCORED]), tmp_path)
        problem.prepare()
        return (problem.input_dir / "streets.txt").read_text()

    assert told() == "more"
    (folder / "streets.txt").write_text("changed")
    assert told() == "changed"


def test_a_direction_that_nobody_knows_is_refused(tmp_path):
    folder = mle_folder(tmp_path)
    config = folder / "config.yaml"
    config.write_text(config.read_text() + "direction: upwards\n")
    with pytest.raises(ConfigError, match="direction: upwards; allowed: min, max"):
        build(load_config(None, [f"problem.path={folder}"]), tmp_path)


def test_too_few_labels_are_refused(tmp_path, inline):
    folder = own_data(tmp_path / "mine", rows=20)
    with pytest.raises(ConfigError, match="20 rows have a label; at least 40"):
        build(load_config(None, [f"data.dir={folder}", *SCORED]), tmp_path).prepare()


def test_without_target_scores_are_claims_of_the_programs(tmp_path, stand, inline):
    rent = stand(
        f"data.dir={own_data(tmp_path / 'mine')}", "data.goal=rents", "llm.code.provider=openai", "llm.code.model=x",
        "problem.direction=min",
    )  # fmt: skip
    assert rent.problem.claims_only and rent.problem.baselines() == []
    assert sorted(p.name for p in rent.problem.input_dir.iterdir()) == ["streets.txt", "test.csv", "train.csv"]
    node, verdict = rent.score("print('my RMSE is 3')")
    assert (verdict.metric, verdict.source, verdict.failure) == (None, None, None)
    assert "my RMSE is 3" in verdict.term_out
    (final,) = rent.evaluator.final([node])
    assert final.metric is None and "claims" in final.message


def test_the_users_own_program_is_read_too_where_the_reviewer_gives_the_score(cli, tmp_path):
    """It ended as `eval_error`, as if the reviewer had found nothing: nobody had been asked."""
    own_data(tmp_path / "mine")
    (tmp_path / "own.py").write_text("print('RMSE of my own program: 4')\n")
    read = {"is_bug": False, "has_csv_submission": True, "summary": "It tells its RMSE."}

    def script(request, number):
        asked = json.dumps(request["messages"])
        if request.get("tools"):
            return {**read, "metric": 4.0 if "my own program: 4" in asked else 3.0}
        return "Guess the mean.\n```python\n# a program that guesses the mean of all rents\nprint('RMSE: 3')\n```"

    with ChatServer(script) as server:
        server.reviews = True
        ended = cli.here(
            f"--data.dir={tmp_path / 'mine'}", "--data.goal=rents", "--problem.direction=min", *server.words(),
            "search.max_steps=1", "search.batch=1", f"initial={tmp_path / 'own.py'}", "logging.view=quiet",
        )  # fmt: skip
        assert ended.code == 0, ended.err
    found = cli.show()
    assert [(row["operator"], row["metric"]) for row in found["nodes"]] == [("user", 4.0), ("draft", 3.0)]
    own = cli.node(found["nodes"][0]["node_id"])
    assert (own["metric_source"], own["failure"], own["analysis"]) == ("claimed", None, "It tells its RMSE.")
    assert cli.here("replay", "latest", "--verify").code == 0
