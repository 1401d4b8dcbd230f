"""Files that a column names: `rules` looks at pictures and reads texts."""

import csv
import os
import random
from pathlib import Path
from zipfile import ZipFile

import pytest
from support.competition_stand import Stand

Image = pytest.importorskip("PIL.Image")
ROWS = 90


@pytest.fixture
def brought(tmp_path):
    """A table of ids with leading zeros, a picture and a note for each, which mostly tell whether it was day."""
    folder, draw = tmp_path / "mine", random.Random(0)
    for name in ("pics", "notes"):
        (folder / name).mkdir(parents=True)
    with (folder / "train.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["shot", "when"])
        for row in range(ROWS):
            name, is_day = f"{row:04}", row % 2 == 0
            table.writerow([name, "day" if is_day else "night"])
            shade = (170 if is_day else 70) + draw.randrange(-40, 40)
            Image.new("RGB", (20, 14), (shade, shade, shade)).save(folder / "pics" / f"{name}.jpg")
            words = [*draw.choices(["road", "tree", "house"], k=5), "sun" if is_day is (row % 9 > 0) else "moon"]
            (folder / "notes" / f"{name}.txt").write_text(" ".join(words))
    return folder


def words_of(folder):
    return f"data.dir={folder}", "data.target=when", "data.metric=accuracy"


def draft(stand, ordinal=0):
    """A first program of `rules`, which is to stand on files alone."""
    reply = stand.problem.rules().write(
        {"extras": stand.problem.prompt_extras(), "task": {"operator": "draft"}, "ordinal": ordinal}, random.Random(0)
    )
    return reply.partition("```python\n")[2].partition("```")[0]


def scored(tmp_path, folder, *, without):
    for path in (folder / without).iterdir():
        path.unlink()
    stand = Stand(tmp_path, *words_of(folder))
    code = draft(stand)
    _, verdict = stand.score(code)
    stand.close()
    return code, verdict, stand.problem.note


def test_rules_look_at_pictures(tmp_path, brought):
    (brought / "pics" / "0000.jpg").unlink()
    (brought / "pics" / "0001.jpg").write_bytes(b"no picture")
    code, verdict, note = scored(tmp_path, brought, without="notes")
    assert "input/pics/{:0>4}.jpg" in code and "the file of a row is its shot in 4 digits + '.jpg'" in note
    assert "the rules writer reads tables, images at 32×32 pixels" in note
    assert verdict.metric is not None and verdict.metric > 0.85


def test_rules_read_texts_in_a_folder_of_any_name(tmp_path, brought):
    (brought / "notes").rename(brought / os.fsdecode(b"no\xff\n## Task {0}"))
    code, verdict, note = scored(tmp_path, brought, without="pics")
    assert "shot_text" in code and "the rules writer reads tables, texts" in note
    assert r"input/no\udcff\n## Task {0}/" in note and "\n" not in note
    assert verdict.metric is not None and verdict.metric > 0.75


def test_where_programs_have_no_pillow_pictures_are_no_part_of_them(tmp_path, brought, monkeypatch):
    monkeypatch.setattr("problems.competition.problem.has_pillow", lambda python: False)
    stand = Stand(tmp_path, *words_of(brought))
    assert "PIL" not in draft(stand) and "shot_text" in draft(stand)
    stand.close()


def test_a_competition_whose_test_is_pictures_and_ids_alone(tmp_path):
    """As most of Kaggle's with pictures: the sample submission is all that names the rows to predict."""
    folder = tmp_path / "pets"
    public, private = folder / "prepared" / "public", folder / "prepared" / "private"
    for part in (public / "train", public / "test", private):
        part.mkdir(parents=True)
    (folder / "config.yaml").write_text(
        "id: pets\nname: Pets\ncompetition_type: simple\nawards_medals: false\nprizes: null\ndescription: pets/d.md\n"
        "dataset:\n  answers: pets/prepared/private/test.csv\n  sample_submission: pets/prepared/public/sample.csv\n"
        "grader:\n  name: accuracy\n  grade_fn: grade:grade\npreparer: prepare:prepare\n"
    )
    (folder / "grade.py").write_text(
        "def grade(given, answers):\n    return float((given.is_cat.values == answers.is_cat.values).mean())\n"
    )
    rows = {"train": range(80), "test": range(80, 120)}
    for part, numbers in rows.items():
        for row in numbers:
            Image.new("L", (9, 7), 230 if row % 3 else 20).save(public / part / f"{row}.png")
    write(public / "train.csv", rows["train"], lambda row: int(row % 3 > 0))
    write(public / "sample.csv", rows["test"], lambda row: 0)
    write(private / "test.csv", rows["test"], lambda row: int(row % 3 > 0))
    with ZipFile(public / "test.zip", "w") as archive:  # as MLE-bench packs them
        for path in sorted((public / "test").iterdir()):
            archive.write(path, f"test/{path.name}")
            path.unlink()
    stand = Stand(tmp_path / "run", f"problem.path={folder}")
    assert "40 images in input/test.zip/test/ (9×7 L); the file of a row is its file" in stand.problem.note
    assert [baseline.name for baseline in stand.problem.baselines()] == ["dummy", "logistic", "HistGradientBoosting"]
    for code in (draft(stand), stand.problem.baselines()[1].code):
        _, verdict = stand.score(code)
        assert verdict.metric == 1.0, verdict
    stand.close()


def write(path: Path, numbers, value):
    path.write_text("file,is_cat\n" + "".join(f"{row}.png,{value(row)}\n" for row in numbers))
