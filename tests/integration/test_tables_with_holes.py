"""Tables of every kind of column, each with missing values, each in turn the target: they are prepared and split."""

import csv
import random

import pandas as pd
import pytest

from problems.competition.grader.own_data.sides import _fingerprints
from problems.competition.problem import build
from utils.config import load_config

ROWS = 240
DRAW = random.Random(5)
COLUMNS = {
    "note": [f"flat {i} in {DRAW.choice(['Wien', 'Graz', 'Linz'])}, floor {i % 9}" for i in range(ROWS)],
    "town": [DRAW.choice(["Wien", "Graz", "Linz"]) for _ in range(ROWS)],
    "rate": [DRAW.choice(["5.32", "6.08", "7.2", "11.5", "19"]) for _ in range(ROWS)],
    "rent": [f"{300 + 900 * DRAW.random():.2f}" for _ in range(ROWS)],
    "rooms": [str(1 + i % 5) for i in range(ROWS)],
    "lift": [str(bool(DRAW.randrange(2))) for _ in range(ROWS)],
    "day": [f"2024-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(ROWS)],
    "mixed": [DRAW.choice(["3", "x", "2.5", "yes"]) for _ in range(ROWS)],
}
METRICS = {"note": "", "rent": "rmse", "rate": "rmse", "rooms": "mae", "day": ""}


def table(folder, *, target: str, full: bool) -> None:
    """Every seventh cell is empty, in each column another one; of the target too, unless it is `full`."""
    folder.mkdir()
    with (folder / "train.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for i in range(ROWS):
            holes = [(i + place) % 7 == 0 and not (full and name == target) for place, name in enumerate(COLUMNS)]
            writer.writerow(["" if hole else COLUMNS[name][i] for hole, name in zip(holes, COLUMNS, strict=True)])


@pytest.mark.parametrize(("split", "full"), [("random", True), ("distinct", False)])
@pytest.mark.parametrize("target", [name for name in COLUMNS if METRICS.get(name, "accuracy")])
def test_a_table_with_holes_is_prepared(tmp_path, inline, target, full, split):
    table(tmp_path / "mine", target=target, full=full)
    metric = METRICS.get(target, "accuracy")
    words = [f"data.dir={tmp_path / 'mine'}", f"data.target={target}", f"data.metric={metric}", f"data.split={split}"]
    problem = build(load_config(None, words), tmp_path)
    problem.prepare()
    with (problem.input_dir / "train.csv").open(newline="") as train, (problem.input_dir / "test.csv").open() as test:
        learned, hidden = list(csv.DictReader(train)), list(csv.DictReader(test))
    assert len(learned) > len(hidden) > 0 and "leak" not in problem.note
    assert all(row[target] for row in learned) and target not in hidden[0]


def test_what_is_missing_is_no_twin_of_another_text():
    """The last text of a column stood for what is missing in it."""
    one, other, *_ = _fingerprints(pd.DataFrame({"text": [None, "the last"], "size": [1, 1]}))
    assert one != other


def test_words_among_the_numbers_to_predict_from_are_known(tmp_path, inline):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "train.csv").write_text(
        "size,year,rent\n" + "".join(f"{i},{1990 + i % 9},{i % 11}\n" for i in range(ROWS))
    )
    (folder / "test.csv").write_text("size,year\n7,1990\nabout 9,1991\n")
    problem = build(load_config(None, [f"data.dir={folder}", "data.target=rent", "data.metric=mae"]), tmp_path)
    problem.prepare()
    known = {column["name"]: column.get("strays") for column in problem.prompt_extras()["data"]["columns"]}
    assert known["size"] and not known["year"]
