"""MLE-bench folders of every shape: what their graders are called, where labels lie, what they import."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from starlette.testclient import TestClient
from support.competition_stand import Stand, writes

from benchmarks import mlebench
from dashboard.server.app import create_app
from problems.competition.folder_facts import read_config
from problems.competition.problem import build
from utils.config import load_config
from utils.errors import ConfigError

ROOT = Path(__file__).resolve().parent.parent.parent
OURS = f"python{sys.version_info.major}.{sys.version_info.minor}"
CONFIG = """id: soils
description: mlebench/competitions/soils/description.md
dataset:
  answers: soils/prepared/private/{answers}
  sample_submission: soils/prepared/public/sample_submission.csv
grader: {{name: {grader}, grade_fn: "mlebench.competitions.soils.grade:grade"}}
preparer: mlebench.competitions.soils.prepare:prepare
"""
HEAD = "from mlebench.grade_helpers import InvalidSubmissionError\nimport numpy as np\n\n\n"
CHECKED = """def grade(submission, answers):
    if len(submission) != len(answers) or list(submission.columns) != list(answers.columns):
        raise InvalidSubmissionError("not the answers' form")
    return float({formula})
"""
ACCURACY = "(submission['soil'] == answers['soil']).mean()"
ABSOLUTE = "(submission['soil'] - answers['soil']).abs().mean()"
TRAINED, TESTED = 300, 60
CLASSES = [i * 13 % 5 for i in range(TRAINED + TESTED)]


def soils(
    root: Path,
    grader: str = "own-measure",
    formula: str = ACCURACY,
    *,
    table: str = "train.csv",
    answers: str = "test.csv",
) -> Path:
    """A folder with five soils in whole numbers, which `acid` and `wet` tell; prepared."""
    folder = root / "mlebench" / "competitions" / "soils"
    public, private = (folder / "prepared" / part for part in ("public", "private"))
    public.mkdir(parents=True)
    private.mkdir()
    (folder / "config.yaml").write_text(CONFIG.format(grader=json.dumps(grader), answers=answers))
    (folder / "grade.py").write_text(HEAD + CHECKED.format(formula=formula))
    (folder / "prepare.py").write_text("def prepare(raw, public, private):\n    raise NotImplementedError\n")
    rows = [f"{i},{soil * 10 + i % 3},{soil * soil + i % 2}" for i, soil in enumerate(CLASSES)]
    pairs = list(zip(rows, CLASSES, strict=True))
    (public / table).write_text("id,acid,wet,soil\n" + "".join(f"{row},{soil}\n" for row, soil in pairs[:TRAINED]))
    (public / "test.csv").write_text("id,acid,wet\n" + "".join(f"{row}\n" for row in rows[TRAINED:]))
    numbers = range(TRAINED, TRAINED + TESTED)
    (public / "sample_submission.csv").write_text("id,soil\n" + "".join(f"{i},0\n" for i in numbers))
    (private / answers).write_text("id,soil\n" + "".join(f"{i},{CLASSES[i]}\n" for i in numbers))
    return folder


@pytest.fixture
def stand(tmp_path):
    made = []

    def build_stand(*words):
        made.append(Stand(tmp_path, *words))
        return made[-1]

    yield build_stand
    for each in made:
        each.close()


@pytest.mark.usefixtures("inline")
@pytest.mark.parametrize("hole", ["labels are missing", "the test has no ids"])
def test_programs_run_where_rows_lack_a_label_or_the_test_its_ids(tmp_path, stand, hole):
    folder = soils(tmp_path)
    public = folder / "prepared" / "public"
    train, test = pd.read_csv(public / "train.csv"), pd.read_csv(public / "test.csv")
    if hole == "labels are missing":
        train.loc[3:9, "soil"] = None
        train.to_csv(public / "train.csv", index=False)
    else:
        test.drop(columns="id").to_csv(public / "test.csv", index=False)
    made = stand(f"problem.path={folder}", "problem.direction=max")
    scored = [made.score(program.code)[1] for program in made.problem.baselines()]
    assert len(scored) == 3 and [verdict.message for verdict in scored] == [""] * 3
    assert scored[2].metric > 0.8


@pytest.mark.parametrize("more", ["when: 2026-99-99", "a: &a [*a]"])
def test_a_configuration_that_cannot_be_read_is_one_line(tmp_path, more):
    (tmp_path / "config.yaml").write_text(f"{CONFIG.format(grader='own', answers='answers.csv')}\n{more}\n")
    with pytest.raises(ConfigError, match=r"config\.yaml: cannot be read as YAML: "):
        read_config(tmp_path / "config.yaml")


# ------------------------------------------------------------ names of graders


@pytest.mark.usefixtures("inline")
@pytest.mark.parametrize("table", ["train.csv", "labels.csv"])
def test_classes_in_whole_numbers_are_classes_whatever_the_grader_and_the_table_are_called(tmp_path, stand, table):
    made = stand(f"problem.path={soils(tmp_path, table=table)}", "problem.direction=max")
    dummy, linear, boosted = made.problem.baselines()
    assert made.score(dummy.code)[1].metric < 0.4
    assert made.score(linear.code)[1].metric > 0.8 and made.score(boosted.code)[1].metric > 0.8


def test_the_graders_name_tells_the_direction_and_the_grader_is_asked(tmp_path, stand):
    made = stand(f"problem.path={soils(tmp_path, 'soil-wise-precision')}")
    assert not made.problem.lower_is_better
    assert (
        "nothing but the grader's name, soil-wise-precision, tells that higher is better, and so it gives the true "
        "answers the better score"
    ) in made.problem.note


@pytest.mark.usefixtures("inline")
def test_a_name_that_lies_is_refused_with_what_to_say(tmp_path, cli):
    """`dice-hausdorff-combo` of MLE-bench's ventilator is a mean absolute error."""
    folder = soils(tmp_path / "mle", "dice-hausdorff-combo", ABSOLUTE)
    ended = cli.here(f"--problem.path={folder}", "--search.max_steps=1")
    assert ended.code == 2
    assert "higher is better, but it gives the true answers 0 and shuffled ones" in ended.line
    assert ended.line.endswith("say --problem.direction=min")
    build(load_config(None, [f"problem.path={folder}", "problem.direction=min"]), tmp_path).prepare()


@pytest.mark.usefixtures("inline")
def test_a_direction_that_the_grader_or_a_file_contradicts_is_refused(tmp_path, cli):
    folder = soils(tmp_path / "mle", "soil-wise-precision")
    ended = cli.here(f"--problem.path={folder}", "--search.max_steps=1", "--problem.direction=min")
    assert ended.code == 2 and ended.line.endswith("say --problem.direction=max")
    assert "problem.direction=min: its grader gives the true answers 1 and shuffled ones" in ended.line
    (folder / "leaderboard.csv").write_text("score\n0.9\n0.5\n")
    ended = cli.here(f"--problem.path={folder}", "--search.max_steps=1", "--problem.direction=min")
    told = "problem.direction=min: the order of leaderboard.csv tells that higher is better"
    assert ended.code == 2 and ended.line.endswith(told)


@pytest.mark.usefixtures("inline")
def test_what_the_test_table_lacks_is_predicted_wherever_it_stands_in_the_sample(tmp_path, stand):
    """`detecting-insults`: `Insult, Date, Comment`; the text names the rows and is all there is to learn from."""
    folder = soils(tmp_path)
    words = [
        f"{('sand', 'clay', 'loam', 'silt', 'peat')[soil]} lies in field {i} today" for i, soil in enumerate(CLASSES)
    ]
    public, private = (folder / "prepared" / part for part in ("public", "private"))
    pairs = list(zip(CLASSES, words, strict=True))
    (public / "train.csv").write_text(
        "soil,day,text\n" + "".join(f"{soil},1,{text}\n" for soil, text in pairs[:TRAINED])
    )
    (public / "test.csv").write_text("day,text\n" + "".join(f"1,{text}\n" for text in words[TRAINED:]))
    (public / "sample_submission.csv").write_text(
        "soil,day,text\n" + "".join(f"0,1,{text}\n" for text in words[TRAINED:])
    )
    answers = "soil,day,text\n" + "".join(f"{soil},1,{text}\n" for soil, text in pairs[TRAINED:])
    (private / "test.csv").write_text(answers)
    grade = HEAD + (
        "def grade(submission, answers):\n    both = submission.merge(answers, on='text')\n"
        "    return float((both.soil_x == both.soil_y).mean())\n"
    )
    (folder / "grade.py").write_text(grade)
    made = stand(f"problem.path={folder}", "problem.direction=max")
    assert "not a table keyed" not in made.problem.note
    dummy, linear, _ = made.problem.baselines()
    assert made.score(dummy.code)[1].metric < 0.4 and made.score(linear.code)[1].metric > 0.9


@pytest.mark.usefixtures("inline")
@pytest.mark.parametrize("form", ["json", "csv.gz", "tsv", "jsonl"])
def test_tables_in_another_form_are_plain_ones_for_programs_too(tmp_path, stand, form):
    """`random-acts-of-pizza` prepares `train.json` and `test.json`, and archives of the same names."""
    folder = soils(tmp_path, "accuracy")
    public = folder / "prepared" / "public"
    for name in ("train", "test"):
        table = pd.read_csv(public / f"{name}.csv")
        (public / f"{name}.csv").unlink()
        (public / f"{name}.zip").write_bytes(b"pictures")
        write = {
            "json": lambda table, path: table.to_json(path, orient="records"),
            "jsonl": lambda table, path: table.to_json(path, orient="records", lines=True),
            "tsv": lambda table, path: table.to_csv(path, index=False, sep="\t"),
        }
        write.get(form, lambda table, path: table.to_csv(path, index=False))(table, public / f"{name}.{form}")
    made = stand(f"problem.path={folder}")
    assert f"test.{form} as test.csv, train.{form} as train.csv too" in made.problem.note
    dummy, linear, _ = made.problem.baselines()
    assert made.score(dummy.code)[1].metric < 0.4 and made.score(linear.code)[1].metric > 0.8
    assert (made.problem.input_dir / f"train.{form}").is_file() and not (public / "train.csv").exists()


@pytest.mark.parametrize(("name", "words"), [
    ("pinball", "data.metric=pinball: say its number too, such as quantile@0.9"),
    ("mapk", "data.metric=mapk: say its number too, such as map@5"),
    ("quadratic_kapa", "unknown metric"),
])  # fmt: skip
def test_a_metric_of_ones_own_data_that_cannot_be_meant_says_how_it_is_written(tmp_path, cli, name, words):
    (tmp_path / "train.csv").write_text("x,y\n" + "".join(f"{i},{i % 7}\n" for i in range(60)))
    ended = cli.here("--data.train=train.csv", "--data.target=y", f"--data.metric={name}")
    assert ended.code == 2 and words in ended.line


def test_the_folder_of_all_data_is_as_good_as_the_competitions(tmp_path):
    """`--data-dir` of `mlebench prepare` and `mlebench grade-sample`."""
    folder = soils(tmp_path, "accuracy")
    shutil.move(folder / "prepared", tmp_path / "data" / "soils" / "prepared")
    for data in (tmp_path / "data", tmp_path / "data" / "soils"):
        build(load_config(None, [f"problem.path={folder}", f"problem.options.data={data}"]), tmp_path).prepare()
    with pytest.raises(ConfigError, match=r"needs prepared/public .* in '.*/none' or '.*/none/soils'"):
        build(load_config(None, [f"problem.path={folder}", f"problem.options.data={tmp_path}/none"]), tmp_path)


def test_a_folder_that_is_not_there_is_told_with_the_one_that_may_be_meant(tmp_path):
    folder = soils(tmp_path, "accuracy")
    with pytest.raises(ConfigError, match=r"problem.path=.*/soil: no such folder \(did you mean 'soils'\?\)"):
        build(load_config(None, [f"problem.path={folder.parent}/soil"]), tmp_path)


# ------------------------------------------------------------ the package itself

HELPERS = "class InvalidSubmissionError(Exception):\n    pass\n"


def package(root: Path, helpers: str = HELPERS) -> None:
    """The package around the folder, as a checkout has it, with a helper that the stand-in lacks."""
    place = root / "mlebench"
    (place / "competitions").mkdir(parents=True, exist_ok=True)
    files = {
        "__init__.py": "", "grade_helpers.py": helpers, "metrics.py": "", "competitions/__init__.py": "",
        "competitions/utils.py": "import absent_archiver\n\n\ndef newest():\n    return 0.25\n",
        "utils.py": "import absent_archiver\nfrom pandas import read_csv\n",
    }  # fmt: skip
    for name, text in files.items():
        (place / name).write_text(text)


@pytest.mark.parametrize("broken", [False, True])
def test_the_package_of_a_checkout_is_taken_and_its_stand_in_where_it_is_broken(tmp_path, stand, broken):
    package(tmp_path, HELPERS + "raise RuntimeError('of another version')\n" if broken else HELPERS)
    made = stand(f"problem.path={soils(tmp_path, 'accuracy')}")
    assert ("mlebench is that of its checkout" in made.problem.note) != broken
    assert made.score(writes("pass"))[1].metric is not None
    refused = made.score(writes("rows = [{'id': r['id'], 'earth': 1} for r in rows]"))[1]
    assert refused.failure == "bad_submission" and "not the answers' form" in refused.message


def test_a_helper_that_only_the_package_has_can_be_imported(tmp_path, stand):
    package(tmp_path)
    folder = soils(tmp_path, "accuracy", "newest()")
    (folder / "grade.py").write_text(
        "from mlebench.competitions.utils import newest\n" + (folder / "grade.py").read_text()
    )
    assert stand(f"problem.path={folder}").score(writes("pass"))[1].metric == 0.25


def environment(root: Path, version: str = OURS) -> Path:
    """Another environment's Python, with the package in it and a package of numbers that only it has."""
    packages = root / "env" / "lib" / version / "site-packages"
    packages.mkdir(parents=True)
    package(packages)
    (packages / "beside_them.py").write_text("QUARTER = 0.25\n")
    python = root / "env" / "bin" / "python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    return python


def uses_a_package(folder: Path) -> None:
    (folder / "grade.py").write_text("import beside_them\n" + HEAD + CHECKED.format(formula="beside_them.QUARTER + 0"))


@pytest.mark.parametrize("installed", [False, True], ids=["a folder elsewhere", "the folder in the package"])
def test_graders_find_the_package_and_its_packages_in_the_environment_that_has_them(tmp_path, stand, installed):
    """As `pip install` of MLE-bench into an environment of its own makes them."""
    python = environment(tmp_path)
    folder = soils(python.parent.parent / "lib" / OURS / "site-packages" if installed else tmp_path, "accuracy")
    uses_a_package(folder)
    words = [] if installed else [f"execution.python={python}"]
    made = stand(f"problem.path={folder}", *words)
    assert "mlebench is that of the installed package" in made.problem.note
    assert made.score(writes("pass"))[1].metric == 0.25
    refused = made.score(writes("rows = [{'id': r['id'], 'earth': 1} for r in rows]"))[1]
    assert refused.failure == "bad_submission", "the package's own InvalidSubmissionError"


def test_an_environment_that_names_a_checkout_is_followed_to_it(tmp_path, stand):
    """`pip install -e` leaves a `.pth` file."""
    python, checkout = environment(tmp_path), tmp_path / "checkout"
    packages = python.parent.parent / "lib" / OURS / "site-packages"
    shutil.move(packages / "mlebench", checkout / "mlebench")
    (packages / "mlebench.pth").write_text(f"{checkout}\n")
    made = stand(f"problem.path={soils(tmp_path, 'accuracy')}", f"execution.python={python}")
    assert "mlebench is that of the installed package" in made.problem.note


def test_packages_of_another_python_are_left_alone_and_told_where_they_are_used(tmp_path, stand):
    folder = soils(tmp_path, "accuracy")
    uses_a_package(folder)
    python = environment(tmp_path, "python3.1")
    made = stand(f"problem.path={folder}", f"execution.python={python}", "problem.direction=max")
    assert "mlebench is that of" not in made.problem.note
    verdict = made.score(writes("pass"))[1]
    assert "'beside_them, which is not installed'" in verdict.message
    (folder / "grade.py").write_text("import beside_them\n" + HEAD + CHECKED.format(formula="beside_them.far([1])"))
    made = stand(f"problem.path={folder}", f"execution.python={python}", "problem.direction=max")
    verdict = made.score(writes("pass"))[1]
    assert "package beside_them, which is not installed: install it beside Swarm-Evo, or name" in verdict.message


def test_a_metric_of_ones_own_finds_what_its_environment_has(tmp_path, stand):
    (tmp_path / "train.csv").write_text("x,y\n" + "".join(f"{i},{i % 7}\n" for i in range(90)))
    (tmp_path / "own.py").write_text(
        "import beside_them\ndef off(truth, predicted): return beside_them.QUARTER + abs(truth - predicted).mean()\n"
    )
    words = [f"data.dir={tmp_path}", "data.target=y", f"data.metric={tmp_path}/own.py:off", "problem.direction=min"]
    made = stand(*words, f"execution.python={environment(tmp_path / 'other')}")
    dummy = made.problem.baselines()[0]
    assert made.score(dummy.code)[1].metric > 0.25


@pytest.mark.usefixtures("inline")
def test_records_of_tensorflow_are_read_without_it(tmp_path, stand):
    """The package imports it when records are read; preparing an image competition needs no more of it."""
    package(tmp_path)
    utils = tmp_path / "mlebench" / "competitions" / "utils.py"
    utils.write_text("def get_ids_from_tf_records(path):\n    import tensorflow\n    return tensorflow.none\n")
    folder = soils(tmp_path, "accuracy")
    (tmp_path / "empty.tfrec").write_bytes(b"")
    (folder / "grade.py").write_text(
        f"from mlebench.competitions.utils import get_ids_from_tf_records\n{HEAD}"
        f"RECORDS = {str(tmp_path / 'empty.tfrec')!r}\n"
        "def grade(submission, answers):\n    return 0.5 + len(get_ids_from_tf_records(RECORDS))\n"
    )
    assert stand(f"problem.path={folder}").score(writes("pass"))[1].metric == 0.5


# ------------------------------------------------------------ rows that cannot be split


@pytest.mark.usefixtures("inline")
def test_medals_are_told_where_rows_cannot_be_split(tmp_path, cli):
    each = "np.mean([soil == record['soil'] for soil, record in zip(submission['soil'], answers)])"
    folder = soils(tmp_path / "mle", "accuracy", each, answers="test.jsonl")
    text = (folder / "grade.py").read_text().replace(" or list(submission.columns) != list(answers.columns)", "")
    (folder / "grade.py").write_text(text)
    records = "".join(json.dumps({"id": i, "soil": CLASSES[i]}) + "\n" for i in range(TRAINED, TRAINED + TESTED))
    (folder / "prepared" / "private" / "test.jsonl").write_text(records)
    scores = [0.9 - 0.01 * i for i in range(50)]
    (folder / "leaderboard.csv").write_text("score\n" + "".join(f"{score:.2f}\n" for score in scores))
    ended = cli(f"--problem.path={folder}", "--search.max_steps=1", "--logging.report=true")
    assert ended.code == 0, ended.err
    assert "on the whole test set, as published scores are, though all of it steered the search: " in ended.out
    assert "medal: gold" in ended.out and "no separate final score" in ended.out
    run = cli.runs[0]
    assert "medal: gold" in " ".join(cli.here("show", run.name).out.split())
    assert "medal: gold" in (run / "report.html").read_text()
    told = cli.here("show", run.name, "--json").json
    assert any("medal: gold" in str(line) for line in told["verdict"]["warnings"])
    with TestClient(create_app(tmp_path), base_url="http://127.0.0.1:8008") as page:
        shown = page.get(f"/api/runs/{run.name}").json()["conclusion"]["warnings"]
    assert any(line.endswith("medal: gold") for line in shown)


# ------------------------------------------------------------ pictures


def pictures(folder: Path, names: list[str], shade: int = 0) -> None:
    image = pytest.importorskip("PIL.Image")
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        image.new("L", (5, 4), shade).save(folder / f"{name}.png")


def test_pictures_beside_a_table_of_labels_are_told_with_the_column_that_names_them(tmp_path):
    folder = soils(tmp_path, "multi-class-log-loss")
    public, private = folder / "prepared" / "public", folder / "prepared" / "private"
    (public / "train.csv").unlink()
    (public / "test.csv").unlink()
    kinds = [f"soil {number}" for number in range(12)]
    (public / "labels.csv").write_text("id,soil\n" + "".join(f"a{i},{kinds[i % 12]}\n" for i in range(60)))
    head, numbers = ",".join(["id", *kinds]), range(60, 80)
    (public / "sample_submission.csv").write_text(f"{head}\n" + "".join(f"a{i}" + ",0.08" * 12 + "\n" for i in numbers))
    (private / "test.csv").write_text(f"{head}\n" + "".join(f"a{i},1" + ",0" * 11 + "\n" for i in numbers))
    pictures(public / "train", [f"a{i}" for i in range(60)])
    pictures(public / "test", [f"a{i}" for i in numbers])
    problem = build(load_config(None, [f"problem.path={folder}"]), tmp_path)
    problem.prepare()
    preview = problem.preview()
    assert "labels: column soil of input/labels.csv, whose classes are the submission's columns" in preview
    assert "60 images in input/train/ (5×4 L); the file of a row is its id + '.png'" in preview
    assert "20 images in input/test/ (5×4 L); the file of a row is its id + '.png'" in problem.note
    assert "labels.csv: 60 rows" in preview and "soil 0, soil 1, soil 2 and 9 more columns: constant" in preview
    assert "the rules writer reads tables, images at 32×32 pixels" in problem.note
    assert len(problem.baselines()) == 3


def test_pictures_that_folders_sort_are_one_line(tmp_path):
    folder = soils(tmp_path, "micro-f1-score")
    public, private = folder / "prepared" / "public", folder / "prepared" / "private"
    (public / "train.csv").unlink()
    (public / "test.csv").unlink()
    (public / "sample_submission.csv").write_text("file,soil\n" + "".join(f"{i}.png,clay\n" for i in range(20)))
    (private / "test.csv").write_text("file,soil\n" + "".join(f"{i}.png,sand\n" for i in range(20)))
    for number, kind in enumerate(("clay", "loam", "sand")):
        pictures(public / "train" / kind, [f"{number}{i}" for i in range(10 + number)])
    pictures(public / "test", [str(i) for i in range(20)])
    problem = build(load_config(None, [f"problem.path={folder}"]), tmp_path)
    problem.prepare()
    line = "33 images in 3 folders of input/train/ (5×4 L): clay (10), loam (11), sand (12); no table has labels"
    assert (
        line in problem.preview() and "20 images in input/test/ (5×4 L); the file of a row is its file" in problem.note
    )


# ------------------------------------------------------------ the table of all


def test_the_script_keeps_a_table_of_what_runs_what_needs_data_and_what_cannot(tmp_path, capsys, monkeypatch):
    folder = soils(tmp_path / "mle", "accuracy")
    broken = folder.with_name("broken")
    shutil.copytree(folder, broken, ignore=shutil.ignore_patterns("prepared"))
    (broken / "grade.py").write_text("import nowhere_to_be_found\nraise RuntimeError('no')\n")
    bare = folder.with_name("bare")
    shutil.copytree(folder, bare, ignore=shutil.ignore_patterns("prepared"))
    (bare / "prepare.py").write_text("import nowhere_to_be_found\n\n\ndef prepare(raw, public, private):\n    pass\n")
    data = tmp_path / "data" / "soils"
    shutil.copytree(folder / "prepared", data / "prepared")
    words = [str(tmp_path / "mle"), "--data", str(tmp_path / "data"), "--page", str(tmp_path / "page.md")]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.mlebench", *words], cwd=ROOT, capture_output=True, text=True, timeout=200
    )
    page = (tmp_path / "page.md").read_text()
    assert done.returncode == 1 and "3 of 3: soils: runs; its sample submission scores 0.2" in done.stderr
    assert "3 competitions: 1 run, 0 need raw data, 1 need raw data and a package, 1 cannot" in done.stdout
    assert "| bare | accuracy ↑ | needs raw data; preparing needs the package nowhere_to_be_found |" in page
    assert "| broken | accuracy ↑ | cannot: RuntimeError: no |" in page
    assert "| soils | accuracy ↑ | runs; its sample submission scores 0.2 |" in page
    monkeypatch.delenv("MLEBENCH", raising=False)
    assert mlebench.main([]) == 0 and capsys.readouterr().out.startswith("no checkout of MLE-bench: git clone")
    with pytest.raises(ConfigError, match="needs prepared/public and prepared/private"):
        build(load_config(None, [f"problem.path={bare}"]), tmp_path)
