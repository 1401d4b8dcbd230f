"""Instances of one's own for `tsp` and `bin_packing`: TSPLIB, OR-Library, CSV and JSON, at the command line too."""

import bz2
import gzip
import json
import lzma
import math
import re
import subprocess
import sys
from itertools import permutations
from pathlib import Path

import pytest

from problems.bin_packing.data import build_data
from problems.bin_packing.instances import load_file
from problems.tsp.bound import one_tree_bound
from problems.tsp.files import deciding_files, load
from problems.tsp.instances import generate
from problems.tsp.problem import build
from utils.config import load_config
from utils.errors import ConfigError

BURMA14 = """NAME: burma14
TYPE: TSP
COMMENT: 14-Staedte in Burma (Zaw Win)
DIMENSION: 14
EDGE_WEIGHT_TYPE: GEO
EDGE_WEIGHT_FORMAT: FUNCTION
DISPLAY_DATA_TYPE: COORD_DISPLAY
NODE_COORD_SECTION
   1  16.47       96.10
   2  16.47       94.44
   3  20.09       92.54
   4  22.39       93.37
   5  25.23       97.24
   6  22.00       96.05
   7  20.47       97.02
   8  17.20       96.29
   9  16.30       97.38
  10  14.05       98.12
  11  16.53       97.38
  12  21.52       95.59
  13  19.41       97.13
  14  20.09       94.55
EOF
"""
BERLIN52_TEXT = """
565 575 25 185 345 750 945 685 845 655 880 660 25 230 525 1000 580 1175 650 1130 1605 620 1220 580 1465 200 1530
5 845 680 725 370 145 665 415 635 510 875 560 365 300 465 520 585 480 415 835 625 975 580 1215 245 1320 315 1250
400 660 180 410 250 420 555 575 665 1150 1160 700 580 685 595 685 610 770 610 795 645 720 635 760 650 475 960 95
260 875 920 700 500 555 815 830 485 1170 65 830 610 605 625 595 360 1340 725 1740 245
"""
BERLIN52 = BERLIN52_TEXT.split()
SHORTEST_TEXT = """
1 49 32 45 19 41 8 9 10 43 33 51 11 52 14 13 47 26 27 28 12 25 4 6 15 5 24 48 38 37 40 39 36 35 34 44 46 16 29 50
20 23 30 2 7 42 21 17 3 18 31 22
"""
SHORTEST = SHORTEST_TEXT.split()
WEIGHTS = (
    "NAME: m\nTYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: UPPER_ROW\n"
    "EDGE_WEIGHT_SECTION\n{}\nEOF\n"
)
MAIN = str(Path(__file__).parents[2] / "main.py")


def berlin52(folder: Path, name: str = "berlin52") -> Path:
    spots = [f"{i // 2 + 1} {BERLIN52[i]} {BERLIN52[i + 1]}" for i in range(0, 104, 2)]
    head = [f"NAME : {name}", "TYPE : TSP", "DIMENSION : 52", "EDGE_WEIGHT_TYPE : EUC_2D", "NODE_COORD_SECTION"]
    path = folder / f"{name}.tsp"
    path.write_text("\n".join([*head, *spots, "EOF"]))
    return path


def test_tsplib_distances_give_the_published_lengths(tmp_path):
    (tmp_path / "burma14.tsp").write_text(BURMA14)
    berlin52(tmp_path)
    berlin, burma = load(str(tmp_path))
    assert (burma.best, berlin.best) == (3323, 7542)
    assert burma.length([0, 1, 13, 2, 3, 4, 5, 11, 6, 12, 7, 10, 8, 9]) == 3323
    assert berlin.length([int(word) - 1 for word in SHORTEST]) == 7542


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda x: float(x) * 3, "no tour of these cities is shorter than 2"),
        (lambda x: float(x) / 3, "a tour of these cities is only 2"),
        (lambda x: (float(x) - 500) ** 2 / 100, "no tour of these cities is shorter than 3"),
    ],
)
def test_cities_that_only_have_the_name_of_published_ones_have_not_their_optimum(tmp_path, monkeypatch, change, why):
    monkeypatch.setitem(globals(), "BERLIN52", [str(change(word)) for word in BERLIN52])
    problem = build(load_config(None, ["presets.problem=tsp", f"problem.name={berlin52(tmp_path)}"]), tmp_path)
    (one,) = load(str(tmp_path / "berlin52.tsp"))
    assert one.best is None and one.reference != 7542
    assert "berlin52 is not TSPLIB's, whose shortest tour is 7542" in problem.note and why in problem.note


def test_a_published_name_with_fewer_cities_is_another_instance(tmp_path):
    path = berlin52(tmp_path)
    lines = path.read_text().replace("DIMENSION : 52", "DIMENSION : 5").splitlines()
    path.write_text("\n".join(lines[:10]))
    (one,) = load(str(path))
    assert one.best is None and "it has 5 cities" in one.note
    assert load(str(berlin52(tmp_path)))[0].note == ""


def test_a_shortest_tour_beside_the_instance_is_the_reference(tmp_path):
    path = berlin52(tmp_path, "mine")
    assert load(str(path))[0].best is None
    path.with_suffix(".opt.tour").write_text("TYPE : TOUR\nTOUR_SECTION\n" + "\n".join([*SHORTEST, "-1", "EOF"]))
    assert load(str(path))[0].best == 7542


def test_without_a_known_tour_the_reference_is_a_bound_just_below_it(tmp_path):
    (mine,) = load(str(berlin52(tmp_path, "mine")))
    assert 0.97 * 7542 <= mine.reference <= 7542


@pytest.mark.parametrize("seed", range(4))
def test_no_tour_is_shorter_than_the_bound(seed):
    (points,) = generate(1, 7, f"bound {seed}")
    table = [[math.dist(a, b) for b in points] for a in points]
    shortest = min(
        sum(table[a][b] for a, b in zip((0, *rest), (*rest, 0), strict=True)) for rest in permutations(range(1, 7))
    )
    assert 0.8 * shortest <= one_tree_bound(table) <= shortest + 1e-9


FORMS = {
    "UPPER_ROW": "3 4 5 6 7 8",
    "LOWER_DIAG_ROW": "0 3 0 4 6 0 5 7 8 0",
    "FULL_MATRIX": "0 3 4 5 3 0 6 7 4 6 0 8 5 7 8 0",
    "lower_row": "3 4 6 5 7 8",
    "UPPER_DIAG_ROW": "0 3 4 5 0 6 7 0 8 0",
    "UPPER_COL": "3 4 6 5 7 8",
    "LOWER_COL": "3 4 5 6 7 8",
    "UPPER_DIAG_COL": "0 3 0 4 6 0 5 7 8 0",
    "LOWER_DIAG_COL": "0 3 4 5 0 6 7 0 8 0",
}


@pytest.mark.parametrize("form", FORMS)
def test_given_distances_are_read_in_every_form(tmp_path, form):
    head = f"NAME: m\nTYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: {form}\n"
    (tmp_path / "m.tsp").write_text(f"{head}EDGE_WEIGHT_SECTION\n{FORMS[form]}\nEOF\n")
    (one,) = load(str(tmp_path / "m.tsp"))
    assert one.length([0, 1, 2, 3]) == 3 + 6 + 8 + 5
    assert one.view()[1] and not one.view()[0]
    assert one.table() == load_full(tmp_path)


def load_full(folder: Path) -> list[list[float]]:
    """The table of FORMS, whole."""
    (folder / "f.tsp").write_text(WEIGHTS.format(FORMS["FULL_MATRIX"]).replace("UPPER_ROW", "FULL_MATRIX"))
    return load(str(folder / "f.tsp"))[0].table()


def test_distances_that_a_file_tells_are_its_distances_whatever_pictures_it_holds(tmp_path):
    """Without a type they were those of the display's coordinates."""
    text = WEIGHTS.format("3 4 5 6 7 8").replace("EDGE_WEIGHT_TYPE: EXPLICIT\n", "")
    shown = "".join(f"{city} {city * 100} 0\n" for city in range(1, 5))
    (tmp_path / "m.tsp").write_text(
        text.replace("EDGE_WEIGHT_SECTION", f"DISPLAY_DATA_SECTION\n{shown}EDGE_WEIGHT_SECTION")
    )
    assert load(str(tmp_path / "m.tsp"))[0].table() == load_full(tmp_path)
    (tmp_path / "c.csv").write_text("x;y\n0,125;1\n1,375;2,25\n3;4\n5;1,050\n")
    assert load(str(tmp_path / "c.csv"))[0].points[1] == (1.375, 2.25), "with another decimal in the column it is one"


@pytest.mark.parametrize(
    "text",
    [
        BURMA14.lower(),
        BURMA14.replace("NODE_COORD_SECTION", "Node_Coord_Section :"),
        BURMA14.replace("TYPE: TSP", "Type : tsp"),
    ],
)
def test_keywords_of_tsplib_may_be_of_either_case(tmp_path, text):
    (tmp_path / "burma14.tsp").write_text(text)
    (one,) = load(str(tmp_path / "burma14.tsp"))
    assert (one.best, one.length([0, 1, 13, 2, 3, 4, 5, 11, 6, 12, 7, 10, 8, 9])) == (3323, 3323)


def test_tours_name_cities_by_number_whatever_their_order_in_the_file(tmp_path):
    path = berlin52(tmp_path, "mine")
    head, cities = path.read_text().split("NODE_COORD_SECTION\n")
    turned = "\n".join(reversed(cities.removesuffix("EOF").split("\n")))
    path.write_text(f"{head}NODE_COORD_SECTION{turned}\nEOF")
    path.with_suffix(".opt.tour").write_text("TYPE : TOUR\nTOUR_SECTION\n" + "\n".join([*SHORTEST, "-1", "EOF"]))
    assert load(str(path))[0].best == 7542


def test_csv_and_json_hold_one_instance_or_many(tmp_path):
    (tmp_path / "one.csv").write_text("0,0\n0,3\n4,3\n4,0\n")
    (tmp_path / "two.csv").write_text("instance,y,x\n" + "".join(f"{n},{i},{i * i}\n" for n in "ab" for i in range(5)))
    (tmp_path / "three.json").write_text(json.dumps({"q": {"points": [[0, 0], [0, 3], [4, 3], [4, 0]], "best": 14}}))
    one, q, a, b = load(str(tmp_path))
    assert (one.name, one.length([0, 1, 2, 3]), q.best, a.name, len(b)) == ("one", 14.0, 14.0, "a", 5)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("x.tsp", BURMA14.replace("GEO", "XRAY1"), "EDGE_WEIGHT_TYPE: XRAY1; allowed: EUC_2D"),
        ("x.tsp", BURMA14.replace("TYPE: TSP", "TYPE: ATSP"), "TYPE: ATSP; only TSP is read"),
        ("x.tsp", BURMA14.replace("DIMENSION", "SIZE"), "no TSPLIB file: it lacks DIMENSION"),
        ("x.csv", "city,lat,height\na,1,2\n", "needs the columns x and y"),
        ("x.json", '{"a": [[0, 0], [1, 1]]}', "a has 2 cities; allowed: 4 to 2000"),
        ("x.json", "[", "Expecting value"),
        ("x.tsp", BURMA14.replace("93.37", "nan"), "line 12: y of city 4 is 'nan', not a finite number"),
        ("x.tsp", BURMA14.replace("93.37", "-inf"), "line 12: y of city 4 is '-inf', not a finite number"),
        ("x.tsp", BURMA14.replace("93.37", "9e300"), "line 12: y of city 4 is 9e+300; allowed: up to 1e+100"),
        ("x.tsp", BURMA14.replace("93.37", ""), "line 12: 2 words; a city is its number, x and y"),
        ("x.tsp", BURMA14.replace("DIMENSION: 14", "DIMENSION: 20"), "DIMENSION: 20, but there are coordinates of 14"),
        ("x.tsp", BURMA14.replace("DIMENSION: 14", "DIMENSION: 5.5"), "DIMENSION is '5.5', not a whole number"),
        ("x.tsp", WEIGHTS.format("3 4 nan 6 7 8"), "line 7: the distance of cities 1 and 4 is 'nan'"),
        ("x.tsp", WEIGHTS.format("3 4 5 6 7 inf"), "line 7: the distance of cities 3 and 4 is 'inf'"),
        ("x.tsp", WEIGHTS.format("3 4 -5 6 7 8"), "cities 1 and 4 is -5; a distance is at least 0"),
        ("x.tsp", WEIGHTS.format("3 4 5"), "EDGE_WEIGHT_SECTION has 3 numbers; UPPER_ROW of 4 cities needs 6"),
        (
            "x.tsp",
            BURMA14.replace("TYPE: TSP", "TYPE: TSP\nDIMENSION: 13"),
            "line 5: DIMENSION: 14, but it was 13 before",
        ),
        ("x.tsp", BURMA14.replace("   4  22.39", "   3  22.39"), "line 12: city 3 stands twice"),
        ("x.tsp", BURMA14.replace("93.37", "400"), "city 4 lies at latitude 22.39, longitude 400; GEO has latitudes"),
        ("x.tsp", BURMA14.replace("EOF", "FIXED_EDGES_SECTION\n1 2\n-1"), "FIXED_EDGES_SECTION: not kept here"),
        (
            "x.tsp",
            WEIGHTS.format("0 3 4 5 3 0 6 7 4 2 0 8 5 7 8 0").replace("UPPER_ROW", "FULL_MATRIX"),
            "line 7: the distance of cities 3 and 2 is 2, back it is 6; only symmetric",
        ),
        (
            "x.json",
            '{"a": {"points": [[0, 0], [0, 3], [4, 3], [4, 0]], "best": 1}}',
            "best is 1, but every tour is at least",
        ),
        (
            "x.json",
            '{"a": {"points": [[0, 0], [0, 3], [4, 3], [4, 0]], "optimum": 14}}',
            "a: unknown key 'optimum'; allowed: points, best",
        ),
        ("x.json", '{"a": [[0, 0], [1, 1]], "a": [[0, 0], [1, 2]]}', "the key 'a' stands twice"),
        ("x.csv", "x,y,x\n1,2,3\n", "the column x stands twice"),
        ("x.csv", "x,y,demand\n1,2,3\n", "unknown column 'demand'; allowed: x, y, instance"),
        ("x.csv", "x,y\n1,2\n3,9,8\n", "line 3: 3 cells, but 2 columns (x, y)"),
        ("x.tsp", WEIGHTS.format("0 0 0 0 0 0"), "m: its cities lie at one place"),
        ("x.csv", "x,y\n" + "5,5\n" * 6, "x: its cities lie at one place"),
        ("x.csv", "x,y\n1,2\n3,nan\n", "line 3: y is 'nan', not a finite number"),
        ("x.csv", "nan,2\n1,2\n", "line 1: x is 'nan', not a finite number"),
        ("x.csv", "x,y\n1,2\n3\n", "line 3: y is '', not a finite number"),
        ("x.csv", "", "the file is empty"),
        ("x.csv", "x,y\n", "it holds no cities"),
        ("x.json", '{"a": [[0, 0], [1, NaN], [3, 4], [2, 1]]}', "a: city 2: y is 'nan', not a finite number"),
        ("x.json", '{"a": [[0, 0], [1], [3, 4], [2, 1]]}', "a: city 2 is [1], not [x, y]"),
        ("x.json", '{"a": {"points": [[0, 0]], "best": Infinity}}', "a: best is 'inf', not a finite number"),
        ("x.json", '{"a": {"points": [[0, 0]], "best": 0}}', "a: best is 0; a tour's length is above 0"),
        ("x.json", "3", "JSON must be a list of [x, y]"),
        (
            "x.tsp",
            WEIGHTS.format("3 4 5 6 7 8").replace("EXPLICIT", "EUC_2D"),
            "EDGE_WEIGHT_TYPE: EUC_2D, but there is an EDGE_WEIGHT_SECTION, whose type is EXPLICIT",
        ),
        ("x.tsp", BURMA14.replace("NODE_COORD", "DISPLAY_DATA"), "DISPLAY_DATA_SECTION is for pictures"),
        ("x.csv", "instance,x,y\na,1,2\n,3,4\n", "line 3: no instance is named; each row of the table names its own"),
        ("x.csv", "x\ty\n950\t2\n1,050\t3\n", "line 3: 1,050 may be 1050 or 1.050: write it without a comma"),
    ],
)
def test_what_cannot_be_read_is_one_line_that_names_the_file(tmp_path, name, text, words):
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError) as caught:
        build(load_config(None, ["presets.problem=tsp", f"problem.name={tmp_path / name}"]), tmp_path)
    assert words in str(caught.value) and str(tmp_path / name) in str(caught.value) and "\n" not in str(caught.value)


def test_two_cities_at_one_place_are_no_fault(tmp_path):
    (tmp_path / "x.csv").write_text("x,y\n0,0\n0,0\n3,0\n3,4\n")
    assert load(str(tmp_path / "x.csv"))[0].reference > 0


def test_a_name_that_is_no_file_is_refused_not_ignored(tmp_path):
    with pytest.raises(ConfigError, match=r"problem\.name=berlin52: no such file; tsp reads a file or folder"):
        build(load_config(None, ["presets.problem=tsp", "problem.name=berlin52"]), tmp_path)


@pytest.mark.long
def test_the_command_line_searches_a_folder_of_instances_and_tells_each(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "burma14.tsp").write_text(BURMA14)
    berlin52(folder)
    for number in range(2):
        (points,) = generate(1, 20, f"mine {number}")
        (folder / f"more{number}.csv").write_text("x,y\n" + "".join(f"{x * 500},{y * 500}\n" for x, y in points))

    def main(*words: str) -> str:
        command = [sys.executable, MAIN, *words, f"--project.dir={tmp_path}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=400, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    main("--problem", "tsp", f"--problem.name={folder}", "--search.max_steps=10")
    told = main("show", "latest")
    assert "burma14 (best known)" in told and "3323" in told and "more1" in told


ORLIB = "2\n u_a\n 150 5 2\n 100\n 50\n 60\n 40\n 30\n u_b\n 150.0 3 1\n 40 20 30\n"


def test_packing_reads_csv_and_the_best_known_bins_of_the_or_library(tmp_path):
    (tmp_path / "a.txt").write_text(ORLIB)
    items = "".join(f"i{n},100,{10 + (n * 7 + i * 13) % 60}\n" for n in range(6) for i in range(30))
    (tmp_path / "b.csv").write_text(f"instance,capacity,size\n{items}")
    data = build_data(str(tmp_path / "b.csv"))
    assert data.capacity == 100 and [x.name for x in data.test] == ["i2", "i5"] and len(data.test[0].sizes) == 30
    assert [x.best for x in load_file(tmp_path / "a.txt")] == [2, 1]
    with pytest.raises(ConfigError, match="2 instances; three splits need at least 3"):
        build_data(str(tmp_path / "a.txt"))
    (tmp_path / "c.csv").write_text("name,size\na,3\n")
    with pytest.raises(ConfigError, match="needs the columns instance, capacity and size"):
        build_data(str(tmp_path / "c.csv"))


HEAD = "instance,capacity,size\n"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("x.csv", HEAD + "a,100,3\na,100,nan\n", "line 3: size is 'nan', not a finite number"),
        ("x.csv", HEAD + "a,inf,3\n", "line 2: capacity is 'inf', not a finite number"),
        ("x.csv", HEAD + "a,100,-5\n", "line 2: size -5; sizes must be above 0 and at most the capacity, 100"),
        ("x.csv", HEAD + "a,100,0\n", "line 2: size 0; sizes must be above 0"),
        ("x.csv", HEAD + "a,100,500\n", "line 2: size 500; sizes must be above 0 and at most the capacity, 100"),
        ("x.csv", HEAD + "a,-1,3\n", "line 2: capacity -1; it must be above 0"),
        ("x.csv", HEAD + "a,100\n", "line 2: size is '', not a finite number"),
        ("x.csv", HEAD + "a,100,3\na,120,3\n", "line 3: capacity 120, but a has 100 in line 2"),
        ("x.csv", HEAD + "a,1.0,0.1\nb,1,0.12345\n", "capacity 1.0 in units of 0.00001"),
        ("x.csv", "", "the file is empty"),
        ("x.txt", "", "the file is empty"),
        ("x.txt", "2\nu1\n100 3 1\n5\n", "it ends after 1 of 3 items of u1"),
        ("x.txt", "2\nu1\n100 1 1\n5\n", "it ends before instance 2 of 2"),
        ("x.txt", "1\nu1\n100 1 1\n5\n6\n", "line 5 is after the last of 1 instance"),
        ("x.txt", "1\nu1\n100 many 1\n5\n", "line 3: the number of items is 'many', not a finite number"),
        ("x.txt", "1\nu1\n100 1 1\ninf\n", "line 4: size is 'inf', not a finite number"),
        (
            "x.txt",
            "1\nu1\n100 2 1\n60\n60\n",
            "line 3: the best known number of bins is 1; 2 items need 2 to 2 bins",
        ),
        ("x.json", '{"a": {"capacity": 9, "items": [5, 5], "best": 1}}', "a: best is 1; 2 items need 2 to 2"),
        (
            "x.json",
            '{"a": {"capacity": 9, "items": [5], "optimum": 1}}',
            "unknown key 'optimum'; allowed: capacity, items",
        ),
        (
            "x.json",
            '{"a": {"capacity": 9, "items": [5]}, "a": {"capacity": 9, "items": [6]}}',
            "the key 'a' stands twice",
        ),
        (
            "x.json",
            '[{"name": "a", "capacity": 9, "items": [5]}, {"name": "a", "capacity": 9, "items": [6]}]',
            "two instances are called a",
        ),
        ("x.json", '{"a": {"capacity": 9, "items": [5], "name": "b"}}', "a: its name is 'b'"),
        ("x.csv", HEAD + "a,100,3\na,100,2,5\n", "line 3: 4 cells, but 3 columns"),
        ("x.csv", "instance,capacity,size,weight\na,100,3,4\n", "unknown column 'weight'; allowed: instance, capacity"),
        ("x.csv", "instance,capacity,size,size\na,100,3,4\n", "the column size stands twice"),
        ("x.json", "[1, 2]", "or a list of {capacity, items}, and '1' is not so"),
        ("x.json", '{"a": {"capacity": 9, "items": [1, "x"]}}', "a: item 2 is 'x', not a finite number"),
        ("x.json", '{"a": {"capacity": 9, "items": [1, NaN]}}', "a: item 2 is 'nan', not a finite number"),
        ("x.json", '{"a": {"capacity": 9, "items": []}}', "a: no items"),
        ("x.json", '{"a": {"capacity": 9, "num_items": 3, "items": [1]}}', "num_items is 3, but it has 1 item"),
        ("x.csv", HEAD + "a,100,3\n,100,4\n", "line 3: no instance is named"),
        ("x.json", '{"a": {"capacity": 9, "items": [1]}, "b": 3}', "and 'b' is not so"),
    ],
)
def test_bin_packing_files_are_refused_with_the_place_and_the_value(tmp_path, name, text, words):
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_file(tmp_path / name)
    assert words in str(caught.value) and str(tmp_path / name) in str(caught.value) and "\n" not in str(caught.value)


def test_the_best_known_bins_are_read_from_json_and_0_is_unknown(tmp_path):
    (tmp_path / "x.json").write_text('{"a": {"capacity": 9, "items": [5, 5], "best": 2}}')
    (tmp_path / "x.txt").write_text("1\nu1\n100 2 0\n60\n60\n")
    assert [load_file(tmp_path / name)[0].best for name in ("x.json", "x.txt")] == [2, None]


def test_sizes_of_a_file_are_scaled_alike(tmp_path):
    (tmp_path / "x.csv").write_text(HEAD + "a,1.0,0.25\nb,1.00,0.5\nc,1,1e-1\n")
    data = build_data(str(tmp_path / "x.csv"))
    assert data.capacity == 100 and [one.sizes.tolist() for one in load_file(tmp_path / "x.csv")] == [[25], [50], [10]]


SIZES = [[20 + (i * 7 + k * 3) % 60 for i in range(12)] for k in range(3)]
BINS: dict[str, dict[str, str]] = {
    "OR-Library": {
        "a.txt": "3\n" + "".join(f"u{k}\n100 12 9\n" + "\n".join(map(str, SIZES[k])) + "\n" for k in range(3))
    },
    "semicolons": {
        "a.csv": "instance;capacity;size\n" + "".join(f"u{k};100;{s},0\n" for k in range(3) for s in SIZES[k])
    },
    "tabs": {"a.tsv": "instance\tcapacity\tsize\n" + "".join(f"u{k}\t100\t{s}\n" for k in range(3) for s in SIZES[k])},
    "list": {"a.json": json.dumps([{"name": f"u{k}", "capacity": 100, "items": SIZES[k]} for k in range(3)])},
    "BPPLIB": {f"u{k}.txt": "12\n100\n" + "\n".join(map(str, SIZES[k])) for k in range(3)},
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("form", BINS)
def test_bin_packing_reads_every_usual_form_packed_or_not_and_a_folder_of_them(tmp_path, form, packed):
    for name, text in BINS[form].items():
        content = gzip.compress(text.encode()) if packed else text.encode()
        (tmp_path / (f"{name}.gz" if packed else name)).write_bytes(content)
    for name in ("README.txt", "LICENSE", "Readme.csv"):  # as they lie in such folders
        (tmp_path / name).write_text("Bins of Falkenauer's form, 100 units each.\n")
    found = load_file(tmp_path)
    assert [one.name for one in found] == ["u0", "u1", "u2"]
    assert [one.capacity for one in found] == [100, 100, 100]
    assert [one.sizes.tolist() for one in found] == SIZES
    assert build_data(str(tmp_path)).name == tmp_path.name


@pytest.mark.parametrize(("name", "pack"), [
    ("a.tsp", gzip.compress), ("a.tsp.gz", lzma.compress), ("a.tsp.xz", bytes),
    ("a.tsp", lambda text: text.decode().encode("utf-16")),
])  # fmt: skip
def test_what_a_file_holds_counts_and_not_what_it_is_called(tmp_path, name, pack):
    (tmp_path / name).write_bytes(pack(BURMA14.encode()))
    assert load(str(tmp_path / name))[0].best == 3323
    (tmp_path / "b.txt.bz2").write_bytes(pack(ORLIB.encode()))
    assert [one.best for one in load_file(tmp_path / "b.txt.bz2")] == [2, 1]


def test_a_shortest_tour_packed_beside_its_instance_is_found(tmp_path):
    """As TSPLIB is handed out. It was passed over in silence."""
    path = berlin52(tmp_path, "mine")
    tour = "TYPE : TOUR\nTOUR_SECTION\n" + "\n".join([*SHORTEST, "-1", "EOF"])
    (tmp_path / "mine.tsp.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert load(str(tmp_path / "mine.tsp.gz"))[0].best is None
    (tmp_path / "mine.opt.tour.gz").write_bytes(gzip.compress(tour.encode()))
    assert load(str(tmp_path / "mine.tsp.gz"))[0].best == 7542
    assert [path.name for path in deciding_files(str(tmp_path)).values()] == ["mine.tsp.gz", "mine.opt.tour.gz"]
    (tmp_path / "mine.opt.tour.gz").write_text("\n".join(SHORTEST))
    with pytest.raises(ConfigError, match=r"mine\.opt\.tour\.gz: it has no TOUR_SECTION"):
        load(str(tmp_path / "mine.tsp.gz"))


@pytest.mark.parametrize("names", ["0123", "abcd", "7531"])
def test_a_tour_names_cities_as_its_instance_does(tmp_path, names):
    at = [(0, 0), (4, 3), (0, 3), (4, 0)]
    cities = "".join(f"{name} {x} {y}\n" for name, (x, y) in zip(names, at, strict=True))
    head = "TYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
    (tmp_path / "q.tsp").write_text(f"{head}{cities}EOF\n")
    tour = " ".join(names[place] for place in (0, 2, 1, 3))
    (tmp_path / "q.opt.tour").write_text(f"TOUR_SECTION\n{tour} -1\nEOF\n")
    assert load(str(tmp_path / "q.tsp"))[0].best == 14


@pytest.mark.parametrize("number", ["1e-999999", "1e9999999", "0.1e-400"])
def test_a_number_of_very_many_places_is_refused(tmp_path, number):
    (tmp_path / "a.txt").write_text(f"1\nu\n100 1 1\n{number}\n")
    (tmp_path / "a.csv").write_text(f"x,y\n{number},1\n" + "1,2\n2,3\n4,4\n")
    for read, name in ((load_file, "a.txt"), (load, "a.csv")):
        with pytest.raises(ConfigError, match=f"is '{re.escape(number)}': too many places for a number"):
            read(str(tmp_path / name))


def test_tours_are_read_packed_and_with_semicolons_too(tmp_path):
    (tmp_path / "berlin.tsp.gz").write_bytes(gzip.compress(BURMA14.encode()))
    (one,) = load(str(tmp_path / "berlin.tsp.gz"))
    assert (one.name, len(one), one.best) == ("burma14", 14, 3323)
    (tmp_path / "a.csv").write_text("x;y\n" + "".join(f"{i},5;{i * 3 % 7},25\n" for i in range(6)))
    (two,) = load(str(tmp_path / "a.csv"))
    assert two.points[:2] == [(0.5, 0.25), (1.5, 3.25)]
    (tmp_path / "comment.tsp").write_bytes(BURMA14.replace("14-Staedte", "14 St\xe4dte").encode("latin-1"))
    assert load(str(tmp_path / "comment.tsp"))[0].best == 3323


@pytest.mark.parametrize(("name", "content", "told"), [
    ("a.zip", b"PK\x03\x04", "it is an archive: unpack it first"),
    ("a.csv", b"name,lat,height\na,1,2\n", "it has name, lat, height"),
    ("a.tsp.gz", b"\x1f\x8b\x08\x00", "it is packed and cut off, or broken"),
    ("a.csv", bz2.compress(b"instance,x,y\n")[:-4], "it is packed and cut off, or broken"),
    ("a.json.xz", lzma.compress(b"{}")[:-4], "it is packed and cut off, or broken"),
    ("a.tsp.Z", b"\x1f\x9d\x90", "it is an archive: unpack it first"),
    ("a.json", b"[" * 200_000, "its lists and objects lie too deep in each other"),
])  # fmt: skip
def test_what_is_no_file_of_instances_is_told_in_a_line(tmp_path, name, content, told):
    (tmp_path / name).write_bytes(content)
    for read in (load, load_file):
        with pytest.raises(ConfigError) as caught:
            read(str(tmp_path / name))
        assert "\n" not in str(caught.value) and told in str(caught.value)


SPOILT = {
    "0 instances; three splits need at least 3": ("bin_packing", "x.csv", HEAD),
    "1 instance; three splits need at least 3": ("bin_packing", "x.csv", HEAD + "a,100,3\n"),
    "2 instances; three splits need at least 3": ("bin_packing", "x.csv", HEAD + "a,100,3\nb,100,4\n"),
    "capacities [100, 120]; one file, one capacity": ("bin_packing", "x.csv", HEAD + "a,100,3\nb,120,4\nc,100,5\n"),
    "line 12: y of city 4 is 'nan'": ("tsp", "x.tsp", BURMA14.replace("93.37", "nan")),
    "its cities lie at one place": ("tsp", "x.csv", "5,5\n" * 6),
}


@pytest.mark.parametrize("told", SPOILT)
def test_a_plan_refuses_what_the_run_refuses_in_the_same_words(cli, told):
    problem, name, text = SPOILT[told]
    (cli.folder / name).write_text(text)
    words = (f"--problem={problem}", f"--problem.name={name}", "--search.max_steps=2")
    run, plan = cli.here("run", *words), cli.here("run", "--plan", *words)
    assert (plan.code, plan.out, plan.line) == (2, "", run.line) and run.code == 2 and told in plan.line
    assert not (cli.folder / "logs").exists()


@pytest.mark.parametrize("key", ["problem.path", "problem.name"])
@pytest.mark.parametrize("told", [told for told, (problem, *_) in SPOILT.items() if problem == "bin_packing"])
def test_what_cannot_be_read_is_told_by_the_key_that_named_it(cli, key, told):
    _, name, text = SPOILT[told]
    for file in (name, "none.txt", "broken.csv"):
        (cli.folder / name).write_text(text)
        (cli.folder / "broken.csv").write_text("a,b\n1,2\n")
        ended = cli.here("run", "--problem=bin_packing", f"--{key}={file}")
        assert ended.code == 2 and ended.line.startswith(f"swarm-evo: {key}={file}: "), ended.err


@pytest.mark.parametrize("words", [("execution.sandbox=none",), ("data.dir=mine",), ("project.dir=/proc/nowhere",)])
def test_a_plan_refuses_what_is_said_wrongly_too(cli, words):
    words = ("--problem=tsp", *words)
    run, plan = cli.here("run", *words), cli.here("run", "--plan", *words)
    assert (plan.code, plan.line) == (run.code, run.line) and run.code == 2


def test_a_rule_that_plays_in_step_has_one_time_limit_for_all_positions(cli):
    """It was each position's: 120 of them took two minutes before a program was told too slow."""
    head = "def score_bin(item, remaining_capacity, histogram):\n"
    rule = head + "    for x in range({turns}):\n        x = [x]\n    return 1.0\n"
    for name, turns in (("slow", 300_000), ("quick", 1)):
        (cli.folder / f"{name}.py").write_text(rule.format(turns=turns))
    ended = cli.here(
        "run", "--problem=bin_packing", "--problem.name=u120", "--problem.options.validation=2", "search.max_steps=0",
        "--problem.options.test=2", "execution.timeout=5", "initial=slow.py,quick.py", "--logging.view=quiet",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    found = {cli.node(row["node_id"])["plan"]: row for row in cli.show()["nodes"] if row["operator"] == "user"}
    assert found["quick.py"]["metric"] is not None and found["slow.py"]["failure"] == "timeout"
    message = cli.node(found["slow.py"]["node_id"])["message"]
    assert message == "wall clock: 5 s for all calls together were over"


def test_instances_of_one_name_in_two_files_are_solved_apart(tmp_path):
    """Each file of a folder may call its instance `1`: the solver's tour of one was told as the bound of the other."""
    square = [(0, 0), (0, 1), (1, 1), (1, 0)]
    for number, size in enumerate((1, 2, 3, 7)):  # every second one is the test part
        rows = "".join(f"1,{size * x},{size * y}\n" for x, y in square)
        (tmp_path / f"{number}.csv").write_text(f"instance,x,y\n{rows}")
    words = ["presets.problem=tsp", f"problem.name={tmp_path}", "problem.options.solver=highs"]
    problem = build(load_config(None, words), tmp_path)
    rows = [problem.case_score(case, number, 0.0) for number, case in enumerate(problem.cases("test"), 1)]
    assert [row.bound for row in rows] == [8.0, 28.0] and all(abs(row.gap) < 1e-6 for row in rows)
