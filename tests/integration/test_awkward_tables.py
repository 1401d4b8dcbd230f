"""Shapes of real tables that once ended a run or all of its programs, from the command line."""

import csv
import random
import re

import pytest

pytestmark = pytest.mark.usefixtures("inline")


def write(path, head, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([head, *rows])


def search(cli, target, metric, steps=1):
    words = (f"--data.dir={cli.folder / 'mine'}", f"--data.target={target}", f"--data.metric={metric}",
             f"--search.max_steps={steps}", "--logging.report=false", "--data.goal=predict")  # fmt: skip
    return cli.here(*words)


@pytest.fixture
def mine(cli):
    folder = cli.folder / "mine"
    folder.mkdir()
    return folder


def test_a_feature_that_agrees_with_some_labels_is_no_hidden_answer(cli, mine):
    """Behind the id stands a small number, as the label is: "20017,3" is in "20017,35,…", and often in "20017,3,…"."""
    draw = random.Random(3)
    rows = [(20_000 + i, draw.randrange(1, 6) * draw.choice([1, 11]), draw.random(), draw.randrange(1, 6))
            for i in range(400)]  # fmt: skip
    write(mine / "train.csv", ["id", "seats", "share", "rating"], rows)
    ended = search(cli, "rating", "qwk")
    assert ended.code == 0, ended.line


def test_columns_called_like_a_word_of_pandas(cli, mine):
    draw = random.Random(3)
    rows = [(f"{i:04}", x := draw.random(), draw.choice("abc"), 3 * x + draw.random()) for i in range(300)]
    write(mine / "train.csv", ["self", "axis", "columns", "other"], rows)
    ended = search(cli, "other", "rmse")
    assert ended.code == 0, ended.line
    assert "no programs failed" in ended.out


def test_a_few_words_among_numbers_and_rare_classes_do_not_fail_the_small_part(cli, mine):
    """2 % of these rows hold no such word, and none of the rarest class: the whole holds both."""
    draw = random.Random(3)
    names = ["pug", "beagle", "boxer", "akita"]
    rows = [(98_101 + i % 40, draw.random(), names[i % 3]) for i in range(15_000)]
    for place in range(7, 15_000, 1500):
        rows[place] = (f"{rows[place][0]}-1067", rows[place][1], "akita")
    write(mine / "train.csv", ["zip_code", "weight", "breed"], rows)
    ended = search(cli, "breed", "logloss")
    assert ended.code == 0, ended.line
    assert "no programs failed" in ended.out
    (part,) = (cli.folder / "workspaces" / ".prepared").glob("*/smoke/train.csv")
    text = part.read_text()
    assert all(name in text for name in names) and "-1067" in text


def test_a_column_called_like_a_made_one_is_kept(cli, mine):
    """`holiday` tells all, and dates make a column of that name; `average_0` is what a mean target is called."""
    draw = random.Random(3)
    worth = {"none": 0, "eid": 5, "holi": 9, "diwali": 14}
    rows = [(f"2023-{1 + i % 12:02}-{1 + i % 27:02}", draw.choice(list(worth)), draw.choice("abc"), draw.choice("uvw"))
            for i in range(600)]  # fmt: skip
    rows = [(i, *row, worth[row[1]] + draw.random()) for i, row in enumerate(rows)]
    write(mine / "train.csv", ["id", "day", "holiday", "average_0", "town", "riders"], rows)
    ended = search(cli, "riders", "mae")
    assert ended.code == 0, ended.line
    assert "no programs failed" in ended.out
    (score,) = re.findall(r"^step 1/1 .*?: ([\d.]+) ", ended.out, re.MULTILINE)
    assert float(score) < 1, "without the holidays it is 4"


def test_durations_are_numbers_to_learn_from_and_to_predict(cli, mine):
    """Each is another text: as classes they say nothing of each other."""
    draw = random.Random(3)
    rows = []
    for i in range(400):
        seconds = draw.randrange(40, 5000)
        took = 2 * seconds + draw.randrange(60)
        rows.append((i, f"{seconds // 60}:{seconds % 60:02}", f"{took // 3600}:{took // 60 % 60:02}:{took % 60:02}"))
    write(mine / "train.csv", ["id", "half", "took"], rows)
    ended = search(cli, "took", "mae")
    assert ended.code == 0, ended.line
    (score,) = re.findall(r"^baseline ridge: ([\d.]+)$", ended.out, re.MULTILINE)
    assert float(score) < 40, "the median alone is some 2400 s off"
