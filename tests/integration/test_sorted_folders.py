"""Data sets without a table: the names of folders are the labels."""

import csv
import random
import zipfile
from pathlib import Path

import pytest
from support.competition_stand import Stand, column

from core.contracts import Limits
from problems.competition.problem import build
from problems.competition.sorted_folders import find_sorted
from utils.config import load_config
from utils.errors import ConfigError

Image = pytest.importorskip("PIL.Image")
COLOURS = {"cat": (200, 40, 40), "dog": (40, 200, 40), "fox": (40, 40, 200)}
EACH = 40
SCORED = ("data.target=kind", "data.metric=accuracy")
"""The folders' labels are called `label` where nobody says otherwise."""
LOOKS = """
import pandas as pd
from PIL import Image
train, test = (pd.read_csv(f"input/{name}.csv") for name in ("train", "test"))
def strongest(name):
    colours = Image.open(f"input/{name}").convert("RGB").resize((1, 1)).getpixel((0, 0))
    return colours.index(max(colours))
known = dict(zip(train.image.map(strongest), train.kind))
test["kind"] = test.image.map(strongest).map(known)
test[["row_id", "kind"]].to_csv("submission/submission.csv", index=False)
"""


def picture(path: Path, colour, draw: random.Random) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.new("RGB", (6, 6))
    image.putdata([tuple(part + draw.randrange(-30, 30) for part in colour) for _ in range(36)])
    image.save(path)


def pets(root: Path, *, learn: str = "train", tested: int = 12) -> Path:
    draw = random.Random(0)
    for name, colour in COLOURS.items():
        for number in range(EACH):
            picture(root / learn / name / f"{number}.png", colour, draw)
    for number in range(tested):
        picture(root / "test" / f"{number}.png", list(COLOURS.values())[number % 3], draw)
    return root


@pytest.fixture(scope="module")
def stand(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pets")
    root = pets(folder / "mine")
    (root / "sample_submission.csv").write_text("id,kind\n" + "".join(f"{i},cat\n" for i in range(12)))
    (root / "description.md").write_text("Which pet is it?")
    made = Stand(folder, f"data.dir={root}", *SCORED)
    yield made
    made.close()


def test_pictures_in_folders_by_class_are_a_table_to_learn_from(stand):
    note = stand.problem.note
    assert "no table: 120 images in folders named by 3 classes (cat, dog, fox) make train.csv; 12 in test/" in note
    assert "no column" not in note  # of the tables that we made
    assert "132 images in input/images/ (6×6 RGB); the file of a row is its image" in note
    assert "Which pet is it?" in stand.problem.statement()
    train = stand.problem.input_dir / "train.csv"
    assert set(column(train, "kind")) == set(COLOURS) and len(column(train, "kind")) == 84


def test_no_path_tells_a_hidden_label(stand):
    public = stand.problem.input_dir
    paths = [str(path.relative_to(public)) for path in public.rglob("*")]
    assert not [path for path in paths for name in COLOURS if name in path]
    assert len({path for path in paths if path.endswith(".png")}) == 132
    assert len(column(public / "test.csv", "row_id")) == 48


def test_a_program_that_looks_is_scored_and_its_rows_have_the_users_names(stand, tmp_path):
    node, verdict = stand.score(LOOKS)
    assert verdict.metric == 1.0
    stand.problem.export(node, tmp_path / "best", stand.run_dir)
    with (tmp_path / "best" / "submission.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [["id", "kind"], *([str(i), list(COLOURS)[i % 3]] for i in range(12))]
    stand.problem.refit(node, tmp_path / "again", stand.jobs, Limits())
    assert (tmp_path / "again" / "submission.csv").read_bytes() == (tmp_path / "best" / "submission.csv").read_bytes()


def test_the_same_folder_is_made_once_and_a_change_makes_it_anew(tmp_path):
    root = pets(tmp_path / "mine", tested=0)

    def place():
        problem = build(load_config(None, [f"data.dir={root}", *SCORED]), tmp_path)
        return problem._source.request["folder"]

    first = place()
    assert place() == first
    picture(root / "train" / "cat" / "new.png", COLOURS["cat"], random.Random(1))
    assert place() != first


def test_rules_look_at_pictures_without_a_word_on_the_target(tmp_path):
    stand = Stand(tmp_path, f"data.dir={pets(tmp_path / 'mine', tested=0)}", SCORED[1])
    context = {"extras": stand.problem.prompt_extras(), "task": {"operator": "draft"}, "ordinal": 0}
    reply = stand.problem.rules().write(context, random.Random(0))
    _, verdict = stand.score(reply.partition("```python\n")[2].partition("```")[0])
    stand.close()
    assert verdict.metric is not None and verdict.metric > 0.9
    assert "label" in stand.problem.prompt_extras()["output_format"]


def test_texts_stand_in_the_table_and_a_zip_is_read(tmp_path):
    draw = random.Random(0)
    with zipfile.ZipFile(tmp_path / "reviews.zip", "w") as archive:
        for name, word in (("pos", "lovely"), ("neg", "awful")):
            for number in range(40):
                words = " ".join([word, *draw.choices(["film", "plot", "actor"], k=8)])
                archive.writestr(f"reviews/train/{name}/{number}.txt", words)
    words = [f"data.dir={tmp_path / 'reviews.zip'}", "data.target=mood", "data.metric=auc", f"project.dir={tmp_path}"]
    problem = build(load_config(None, words), tmp_path)
    problem.prepare()
    assert "no table: 80 texts in folders named by 2 classes (neg, pos) make train.csv" in problem.note
    assert any("lovely" in text for text in column(problem.input_dir / "train.csv", "text"))


@pytest.mark.parametrize(
    ("target", "words"),
    [("image", "data.target=image: the folders' names are one column"), ("a,b", "the folders' names are one column")],
)
def test_a_target_that_cannot_be_the_folders_is_refused(tmp_path, target, words):
    with pytest.raises(ConfigError, match=words):
        build(load_config(None, [f"data.dir={pets(tmp_path / 'mine')}", f"data.target={target}", SCORED[1]]), tmp_path)


def test_pictures_that_nothing_sorts_are_refused_with_what_to_do(tmp_path, cli):
    draw = random.Random(0)
    for number in range(20):
        picture(tmp_path / "mine" / "all" / f"{number}.png", COLOURS["cat"], draw)
    ended = cli.here("--data.dir=mine", "--data.target=kind", "--data.metric=accuracy")
    assert ended.code == 2
    assert "nothing tells the labels of its 20 files: give a train.csv" in ended.line
    assert "a folder a class (train/cat/1.png, train/dog/2.png)" in ended.line


def test_what_a_project_keeps_in_the_folder_is_no_class(tmp_path):
    root = pets(tmp_path, learn=".", tested=0)
    for name in ("logs", "workspaces"):
        picture(root / name / "run" / "evolution.png", (0, 0, 0), random.Random(0))
    found = find_sorted(root, (root / "logs", root / "workspaces"))
    assert {label for _, label in found.rows} == set(COLOURS)
