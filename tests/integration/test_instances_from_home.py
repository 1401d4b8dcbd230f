"""Instances as people bring them: tables with names of cities, folders with copies and links, what they take away."""

import gzip
import importlib.util
import json
from pathlib import Path

import pytest

from core.state.node import Node
from problems.bin_packing.data import build_data
from problems.bin_packing.instances import load_file
from problems.bin_packing.problem import BinPackingProblem
from problems.bin_packing.problem import Options as BinOptions
from problems.tsp.files import load
from problems.tsp.instances import generate
from problems.tsp.problem import DRIVER, build
from problems.tsp.tour_instance import TourInstance
from utils.config import load_config
from utils.errors import ConfigError

HEAD = "TYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: {}\nNODE_COORD_SECTION\n"
CITIES = "1 0 0\n2 0 3\n3 4 3\n4 4 0\n"
BINS = "instance,capacity,size\n"


def tsp(path: Path):
    return build(load_config(None, ["presets.problem=tsp", f"problem.name={path}"]), path.parent)


@pytest.mark.parametrize(
    "text",
    [
        "0,5;1,25\n1,5;2\n3;4\n0;0\n",
        "sep=;\nx;y\n0,5;1,25\n1,5;2\n3;4\n0;0\n",
        "id;x;y\n7;0,5;1,25\n8;1,5;2\n9;3;4\n10;0;0\n",
        "city,x,y\nBad Aussee,0.5,1.25\nÖtz,1.5,2\nc,3,4\nd,0,0\n",
        "x,y,\n0.5,1.25,\n\n , ,\n1.5,2,\n,,\n3,4,\n0,0,\n",
        "x\ty\n0,5\t1,25\n1,5\t2\n3\t4\n0\t0\n\t\n",
        "\ufeffnode|y|x\na|1.25|0.5\nb|2|1.5\nc|4|3\nd|0|0\n",
    ],
)
def test_tables_of_cities_as_spreadsheets_write_them(tmp_path, text):
    """Rows of separators alone, decimal commas without a head, and a column of names were refused."""
    (tmp_path / "mine.csv").write_text(text.replace("\n", "\r\n"))
    (one,) = load(str(tmp_path / "mine.csv"))
    assert one.points == [(0.5, 1.25), (1.5, 2.0), (3.0, 4.0), (0.0, 0.0)]


@pytest.mark.parametrize("head", ["name;lat;lng", "city,latitude,longitude", "lon,lat"])
def test_latitudes_and_longitudes_are_kilometres_on_the_globe(tmp_path, head):
    mark = ";" if ";" in head else ","
    places = {
        "Wien": (48.2082, 16.3738),
        "Graz": (47.0707, 15.4395),
        "Linz": (48.3069, 14.2858),
        "Rom": (41.9028, 12.4964),
    }
    order = [1, 0] if head.startswith("lon") else [0, 1]
    rows = [
        mark.join([*([name] if len(head) > 7 else []), *(str(place[axis]) for axis in order)])
        for name, place in places.items()
    ]
    (tmp_path / "a.csv").write_text("\n".join([head, *rows]))
    (one,) = load(str(tmp_path / "a.csv"))
    assert [round(one.between(0, city)) for city in (1, 2, 3)] == [145, 155, 764]
    (tmp_path / "a.csv").write_text("\n".join([head, *rows, rows[-1].replace("41.9028", "141.9").replace("Rom", "x")]))
    with pytest.raises(ConfigError, match=r"line 6: lat.* 141.9, l.* 12.4964; allowed: -90 to 90, -360 to 360"):
        load(str(tmp_path / "a.csv"))


def test_a_row_that_stands_twice_by_its_name_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("id,x,y\n1,2,3\n2,3,4\n1,5,6\n")
    with pytest.raises(ConfigError, match="line 4: id 1 stands in line 2 already"):
        load(str(tmp_path / "a.csv"))
    rows = "".join(f"{name},{i},{i},{i * i}\n" for name in "ab" for i in range(4))
    (tmp_path / "a.csv").write_text(f"instance,id,x,y\n{rows}")
    assert [one.name for one in load(str(tmp_path / "a.csv"))] == ["a", "b"], "names are those of an instance"
    (tmp_path / "b.csv").write_text("instance,item,capacity,size\na,1,9,2\na,2,9,3\na,2,9,4\n")
    with pytest.raises(ConfigError, match="line 4: item 2 stands in line 3 already"):
        load_file(tmp_path / "b.csv")


def test_keywords_of_tsplib_count_without_their_colon_too(tmp_path):
    """They were passed over: the distances were those of another type, and a tour had a direction that nobody read."""
    plain = HEAD.format("MAN_2D").replace(":", "")
    (tmp_path / "a.tsp").write_text(f"NAME\t\nCOMMENT four: corners\n{plain}{CITIES}")
    (one,) = load(str(tmp_path / "a.tsp"))
    assert (one.name, one.kind, one.length([0, 2, 1, 3])) == ("a", "MAN_2D", 7 + 4 + 7 + 4)
    (tmp_path / "a.tsp").write_text(plain.replace("TYPE TSP", "TYPE ATSP", 1) + CITIES)
    with pytest.raises(ConfigError, match="TYPE: ATSP; only TSP is read"):
        load(str(tmp_path / "a.tsp"))
    (tmp_path / "a.tsp").write_text("NAME :\n" + HEAD.format("EUC_2D") + CITIES)
    assert load(str(tmp_path / "a.tsp"))[0].name == "a"


@pytest.mark.parametrize("cities", [4, 6])
def test_a_third_coordinate_is_told_where_it_stands(tmp_path, cities):
    """Of a multiple of three cities it was told as a wrong number of cities."""
    rows = "".join(f"{number} {number} {number**2} 1\n" for number in range(1, cities + 1))
    (tmp_path / "a.tsp").write_text(HEAD.format("EUC_2D").replace("4", str(cities)) + rows)
    with pytest.raises(ConfigError, match="line 5: 4 words; a city is its number, x and y"):
        load(str(tmp_path / "a.tsp"))


@pytest.mark.parametrize(("kind", "length"), [("EUC_3D", 3 + 4 + 4 + 5), ("MAN_3D", 3 + 6 + 5 + 8), ("MAX_3D", 15)])
def test_cities_in_space_are_measured_as_tsplib_says(tmp_path, kind, length):
    head = HEAD.format(kind).replace("NODE_COORD_SECTION", "NODE_COORD_TYPE: THREED_COORDS\nNODE_COORD_SECTION")
    (tmp_path / "a.tsp").write_text(f"{head}1 0 0 0\n2 0 0 3\n3 4 2 3\n4 4 2.4 -1.4\n")
    (one,) = load(str(tmp_path / "a.tsp"))
    assert one.length([0, 1, 2, 3]) == length and one.view()[0] == []
    (tmp_path / "a.tsp").write_text(f"{head}1 0 0 0\n2 0 0 3\n3 4 2\n4 4 2 -1\n")
    with pytest.raises(ConfigError, match="line 8: 3 words; a city is its number, x, y and z"):
        load(str(tmp_path / "a.tsp"))


def test_decimal_degrees_in_a_file_of_degrees_and_minutes_are_told(tmp_path):
    (tmp_path / "a.tsp").write_text(HEAD.format("GEO") + "1 48.85 2.35\n2 45.46 4.50\n3 43.17 5.22\n4 50.38 3.04\n")
    assert "GEO has degrees and minutes, and 48.85 has 85: are they decimal degrees?" in tsp(tmp_path / "a.tsp").note
    (tmp_path / "a.tsp").write_text(HEAD.format("GEO") + "1 48.51 2.21\n2 45.46 4.50\n3 43.17 5.22\n4 50.38 3.04\n")
    assert "degrees" not in tsp(tmp_path / "a.tsp").note


def test_an_instance_that_lies_there_packed_too_is_not_its_own_test(tmp_path):
    """After `gunzip --keep` each instance steered the search and was what no step had seen."""
    for number in range(3):
        (points,) = generate(1, 9, f"mine {number}")
        rows = "".join(f"{place} {x} {y}\n" for place, (x, y) in enumerate(points, 1))
        text = HEAD.format("CEIL_2D").replace("4", "9") + rows
        (tmp_path / f"c{number}.tsp").write_text(text)
        (tmp_path / f"c{number}.tsp.gz").write_bytes(gzip.compress(text.encode()))
    problem = tsp(tmp_path)
    parts = [[one.name for one in problem.cases(part)] for part in ("validation", "test")]
    assert parts == [["c0", "c2"], ["c1"]]
    assert "3 instances left out, since the same cities or items stand there before: c0, c1, c2" in problem.note


def test_the_same_bins_under_another_name_are_in_one_part_alone(tmp_path):
    sizes = [[3 + (k * i) % 60 for i in range(8)] for k in (1, 3, 7)]
    listed = [{"name": f"u{k}{copy}", "capacity": 100, "items": sizes[k]} for k in range(3) for copy in "ab"]
    (tmp_path / "mine.json").write_text(json.dumps(listed))
    problem = BinPackingProblem(str(tmp_path / "mine.json"), BinOptions())
    assert [one.name for one in (*problem.data.validation, *problem.data.test)] == ["u1a", "u2a"]
    assert "3 instances left out" in problem.note and "u0b, u1b, u2b" in problem.note
    (tmp_path / "mine.json").write_text(json.dumps(listed[:4]))
    with pytest.raises(ConfigError, match=r"2 instances; three splits need at least 3 \(2 instances left out"):
        build_data(str(tmp_path / "mine.json"))


def test_a_link_that_leads_nowhere_is_told_and_another_is_followed(tmp_path):
    (tmp_path / "there").write_text("x,y\n0,0\n0,3\n4,3\n4,0\n")
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "a b ö.csv").symlink_to(tmp_path / "there")
    assert [one.name for one in load(str(folder))] == ["a b ö"]
    (folder / "lost.csv").symlink_to(tmp_path / "gone")
    for read in (load, load_file):
        with pytest.raises(ConfigError, match=r"lost\.csv': a link that leads nowhere"):
            read(str(folder))


def test_a_tour_that_belongs_to_no_instance_is_told(tmp_path):
    (tmp_path / "a.tsp").write_text(HEAD.format("EUC_2D") + CITIES)
    (tmp_path / "a.opt.tour").write_text("TOUR_SECTION\n1 2 3 4 -1\nEOF\n")
    (tmp_path / "b.opt.tour.gz").write_bytes(gzip.compress(b"TOUR_SECTION\n1 2 3 4 -1\nEOF\n"))
    problem = tsp(tmp_path)
    assert "no instance is called like b.opt.tour.gz: not read" in problem.note and "a.opt.tour" not in problem.note
    assert load(str(tmp_path))[0].best == 14


@pytest.mark.parametrize(("text", "told"), [
    ("12\n100\n" + "9\n" * 11, "the number of items is 12, but there are 11 sizes (a number a line is BPPLIB's form"),
    ("5\n", "the number of items is 5, but there are 0 sizes"),
])  # fmt: skip
def test_a_bpplib_file_that_lacks_sizes_is_no_or_library_file(tmp_path, text, told):
    (tmp_path / "a.bpp").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_file(tmp_path / "a.bpp")
    assert told in str(caught.value) and "OR-Library" not in str(caught.value)


@pytest.mark.parametrize("place", ["/data/mine", "mine/", "./mine.txt", "/a.b/mine.csv.gz", "mine"])
def test_a_problem_of_bins_is_called_like_its_file_and_not_like_its_path(place):
    assert BinPackingProblem(place, BinOptions()).name == "bin_packing/mine"


def test_the_current_folder_has_its_own_name_too(tmp_path, monkeypatch):
    """Such a problem was called `tsp/`."""
    (tmp_path / "my set.2").mkdir()
    (tmp_path / "my set.2" / "a.tsp").write_text(HEAD.format("EUC_2D") + CITIES)
    monkeypatch.chdir(tmp_path / "my set.2")
    assert [tsp(Path(name)).name for name in (".", "../my set.2/", "a.tsp")] == [
        "tsp/my set.2",
        "tsp/my set.2",
        "tsp/a",
    ]


MIXED = """def score_city(distance, home, spread, left):
    return -distance + 0.3 * home - 0.2 * spread * left - abs(distance - 0.2)
"""
"""Of which the order depends on the scale."""


@pytest.mark.parametrize("kind", ["EUC_2D", "MAN_2D", "MAX_2D", "GEO"])
def test_an_exported_rule_builds_the_tour_that_was_scored(tmp_path, kind):
    """It was given the user's own coordinates, where the search had scaled them: another tour came out."""
    (points,) = generate(1, 25, "export")
    rows = "".join(f"{place} {60 * x:.2f} {60 * y:.2f}\n" for place, (x, y) in enumerate(points, 1))
    (tmp_path / "a.tsp").write_text(HEAD.format(kind).replace("4", "25") + rows)
    problem = tsp(tmp_path / "a.tsp")
    (one,) = problem.cases("validation")
    names: dict = {}
    exec(DRIVER + MIXED, names)
    (call,) = problem.calls(one)
    driven = names["drive"](*call)
    problem.export(Node(id="n", code=f"from __future__ import annotations\n{MIXED}"), tmp_path / "out", tmp_path)
    spec = importlib.util.spec_from_file_location("solution", tmp_path / "out" / "solution.py")
    solution = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(solution)
    given = ([], one.table()) if kind == "GEO" else (one.points, None)
    assert solution.tour_of(*given, kind) == driven
    assert kind == "GEO" or solution.drive(one.points, None, kind) != driven, "the scale makes a difference"


@pytest.mark.parametrize("kind", ["MAN_2D", "MAX_2D", "EUC_2D"])
def test_a_rule_is_told_the_distances_that_its_tours_are_measured_by(tmp_path, kind):
    """They were straight lines, whatever the file says."""
    (tmp_path / "a.tsp").write_text(HEAD.format(kind) + "1 0 0\n2 70 70\n3 0 85\n4 100 100\n")
    problem = tsp(tmp_path / "a.tsp")
    (one,) = problem.cases("validation")
    told: list[tuple[float, ...]] = []
    names: dict = {"score_city": lambda *facts: told.append(facts) or -facts[0]}
    exec(DRIVER, names)
    names["drive"](*problem.calls(one)[0])
    measured = [one.between(0, city) for city in (1, 2, 3)]
    assert [facts[0] * 100 for facts in told[:3]] == pytest.approx(measured, abs=0.51)


def test_lower_bounds_are_ready_before_the_clock_starts(tmp_path):
    rows = "".join(f"{name},{x},{y}\n" for name in "abcd" for x, y in generate(1, 600, f"bounds {name}")[0])
    (tmp_path / "a.csv").write_text(f"instance,x,y\n{rows}")
    problem, told = tsp(tmp_path / "a.csv"), []
    problem.warm_up(told.append)
    assert told == ["lower bounds of 4 instances are computed"]
    assert all(one._bound is not None for part in ("validation", "test") for one in problem.cases(part))


def test_where_the_first_rule_has_too_little_time_it_is_told_what_gives_it_more(cli):
    """Large instances took each program its whole time, and nobody said what would help."""
    rows = "".join(f"{x},{y}\n" for x, y in generate(1, 400, "slow")[0])
    (cli.folder / "a.csv").write_text(f"x,y\n{rows}")
    words = ("--problem=tsp", "--problem.name=a.csv", "--execution.timeout=0.05", "--search.max_steps=1")
    ended = cli.here("run", *words, "--logging.view=plain", "--logging.report=false")
    assert "the search has no score to begin with; --execution.timeout=SECONDS gives each program more" in ended.out


def test_a_best_that_no_tour_can_have_is_told(cli):
    """What pairs of neighbours exclude is refused; this a bound excludes, whose seconds are none of the search's."""
    (points,) = generate(1, 20, "claimed")
    least = TourInstance("a", points).reference
    for best, told in ((0.98 * least, True), (1.4 * least, False)):
        (cli.folder / "a.json").write_text(json.dumps({"a": {"points": points, "best": best}}))
        ended = cli.here(
            "run", "--problem=tsp", "--problem.name=a.json", "--search.max_steps=1", "--logging.report=false"
        )
        assert ended.code == 0 and (f"but no tour is shorter than {least:.6g}" in ended.out) is told, ended.out
        assert ("is soon found" in ended.out) is not told, "of that every tour would be better"
