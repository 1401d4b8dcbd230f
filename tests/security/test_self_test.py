"""The self-test of a start: it finds every answer that somebody let into the sandbox, and nothing where nobody did."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.executor.inside import landlock
from core.executor.leaks import search_spec, told_by
from core.executor.server import ServerConfig, own_python
from core.executor.warm import WarmSandbox
from core.workers.local import LocalJobs
from core.workers.pool import JobPool

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux")
ROWS = [(f"{1000 + number}", f"{number * 37 % 991}.25") for number in range(60)]


@pytest.fixture
def place(tmp_path):
    """Labels as a competition keeps them, and what programs see of it."""
    (tmp_path / "private").mkdir(mode=0o700)
    (tmp_path / "public").mkdir()
    (tmp_path / "private" / "test.csv").write_text("id,price\n" + "".join(f"{a},{b}\n" for a, b in ROWS))
    (tmp_path / "public" / "sample_submission.csv").write_text("id,price\n" + "".join(f"{a},0\n" for a, _ in ROWS))
    return tmp_path


@contextmanager
def opened(tier: str, place: Path, preload=(), **options):
    if tier == "lite" and not landlock.abi():
        pytest.skip("this kernel has no Landlock")
    box = WarmSandbox(ServerConfig(tier, own_python(), preload, place / "state", **options))
    pool = JobPool(LocalJobs(box, 1, scratch=place / "jobs"))
    try:
        yield pool
    finally:
        pool.close()
        box.close()


def looked(pool: JobPool, place: Path, patterns=()):
    with search_spec(place, sorted((place / "private").iterdir()), patterns, place / "public") as spec:
        return told_by(pool.run(spec))


@pytest.fixture(params=["warm", "lite"])
def tier(request) -> str:
    return request.param


def test_nothing_is_found_where_nothing_leaks(tier, place):
    with opened(tier, place) as pool:
        told = looked(pool, place)
    assert told.found == () and told.files > 1 and told.memory_mb > 1
    assert "found none" in told.sentence
    if tier == "warm":
        assert told.files < 20, "settings of the system are searched, and links to its programs"
    assert not list(place.glob(".canary*"))


def test_a_shown_folder_that_holds_the_labels(tier, place):
    for path in (place / "private", place / "private" / "test.csv"):
        path.chmod(0o755)
    with opened(tier, place, show=(str(place / "private"),)) as pool:
        told = looked(pool, place)
    assert {"path"} <= {found["how"] for found in told.found}
    assert "test.csv by path at" in told.sentence


def test_a_copy_of_the_labels_among_the_inputs(tier, place):
    (place / "public" / "extra.bin").write_bytes((place / "private" / "test.csv").read_bytes())
    with opened(tier, place) as pool:
        told = looked(pool, place)
    assert {found["how"] for found in told.found} == {"copy"}


def test_lines_of_the_labels_inside_another_table(tier, place):
    text = "id,price\n5,1\n" + "".join(f"{a},{b}\n" for a, b in ROWS[:30])
    (place / "public" / "train.csv").write_text(text)
    with opened(tier, place) as pool:
        told = looked(pool, place)
    assert told.found and {found["how"] for found in told.found} == {"file"}
    assert all(found["where"].endswith("train.csv") for found in told.found)


RATINGS = [(f"{20000 + number}", number * 7 % 5) for number in range(400)]


@pytest.fixture
def rated(place):
    """Labels of few values, where chance agrees with many of them."""
    (place / "private" / "test.csv").write_text("id,rating\n" + "".join(f"{a},{b}\n" for a, b in RATINGS))
    (place / "public" / "sample_submission.csv").write_text("id,rating\n" + "".join(f"{a},9\n" for a, _ in RATINGS))
    return place


@pytest.mark.parametrize("seats", [lambda b: f"{b}7", lambda b: b if b else 3], ids=["begins alike", "mostly alike"])
def test_a_feature_beside_the_id_agrees_with_labels_by_chance(rated, seats):
    rows = "".join(f"{a},{seats(b)},0.5\n" for a, b in RATINGS)
    (rated / "public" / "test.csv").write_text(f"id,seats,share\n{rows}")
    with opened("warm", rated) as pool:
        assert looked(pool, rated).found == ()


def test_the_labels_themselves_beside_the_ids_of_a_wider_table(rated):
    (rated / "public" / "test.csv").write_text("id,x,y\n" + "".join(f"{a},{b},0.5\n" for a, b in RATINGS[:60]))
    with opened("warm", rated) as pool:
        told = looked(pool, rated)
    assert {(found["how"], found["where"].rpartition("/")[2]) for found in told.found} == {("file", "test.csv")}


def test_labels_in_the_memory_that_every_program_begins_with(tier, place):
    (place / "private").chmod(0o755)
    module = place / "remembers.py"
    module.write_text(f"KEPT = open({str(place / 'private' / 'test.csv')!r}).read()\n")
    with opened(tier, place, preload=(str(module),)) as pool:
        told = looked(pool, place)
    assert "memory" in {found["how"] for found in told.found}


def test_data_of_packages_that_should_be_hidden(tier, place):
    with opened(tier, place, hide=("antigravity.py",)) as pool:
        assert looked(pool, place, ("antigravity.py",)).found == ()
        told = looked(pool, place, ("antigravity.py", "this.py"))
    assert {(found["how"], found["what"]) for found in told.found} == {("package", "this.py")}


@pytest.mark.long
def test_a_run_with_labels_in_its_inputs_is_refused_in_one_line(cli):
    words = ("--problem=competition", "problem.name=diabetes", "search.max_steps=0", "logging.report=false")
    assert cli(*words, timeout=150).code in (0, 3)
    log = (cli.folder / "logs" / "system.log").read_text()
    assert "a program that looked for hidden answers found none" in log
    (prepared,) = (path for path in (cli.folder / "workspaces" / ".prepared").glob("diabetes-*") if path.is_dir())
    (prepared / "public" / "extra.csv").write_bytes((prepared / "private" / "test.csv").read_bytes())
    ended = cli(*words, timeout=150)
    assert ended.code == 2
    assert "found them in the sandbox: test.csv by copy at /workspace/input/extra.csv" in ended.line
    doctor = cli("doctor", "--problem=competition", "problem.name=diabetes", timeout=150)
    assert doctor.code == 1 and "FAIL hidden answers: " in doctor.out and "extra.csv" in doctor.out
