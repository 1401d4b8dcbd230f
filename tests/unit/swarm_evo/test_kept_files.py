"""How long functions and tables that a search was given lie below `.swarm-evo/`."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from swarm_evo.errors import SearchError
from swarm_evo.kept import KeptFiles, kept_size, remove_unneeded


def run_of(project: Path, name: str, needs: object) -> Path:
    run = project / "logs" / name
    run.mkdir(parents=True)
    (run / "run.db").touch()
    (run / "config.yaml").write_text(f"data:\n  train: {needs}\n")
    return run


def test_equal_contents_lie_there_once(tmp_path):
    kept = KeptFiles(tmp_path)
    one, same, other = (kept.keep(text, "train.csv") for text in (b"a", b"a", b"b"))
    assert one == same != other and kept_size(tmp_path) == (2, 2)
    assert kept.keep_written("train.csv", lambda path: path.write_bytes(b"b")) == other


def test_a_file_stays_while_a_call_holds_it_and_while_a_run_names_it(tmp_path):
    kept = KeptFiles(tmp_path)
    path = kept.keep(b"a", "train.csv")
    assert remove_unneeded(tmp_path) == [] and path.is_file(), "held"
    run = run_of(tmp_path, "r", path)
    kept.drop()
    assert path.is_file(), "named"
    (run / "config.yaml").unlink()
    assert remove_unneeded(tmp_path) == [] and path.is_file(), "a run that cannot tell what it needs"
    (run / "run.db").unlink()
    assert remove_unneeded(tmp_path) == [f"{path.parent.name}/train.csv"]
    assert not (tmp_path / ".swarm-evo").exists()


def test_a_sweep_needs_what_its_plan_names(tmp_path):
    kept = KeptFiles(tmp_path)
    path = kept.keep(b"a", "train.csv")
    plan = tmp_path / "logs" / "sweeps" / "s" / "plan.json"
    plan.parent.mkdir(parents=True)
    plan.write_text(f'{{"words": ["--data.train={path}"]}}')
    kept.drop()
    assert path.is_file()


def test_what_another_call_left_goes_when_the_next_is_kept(tmp_path):
    left = KeptFiles(tmp_path)
    path = left.keep(b"a", "train.csv")
    left.let_go()  # and its process was killed, or its run removed by hand
    assert KeptFiles(tmp_path).keep(b"b", "train.csv").is_file() and not path.exists()


def test_a_call_that_begins_no_run_leaves_nothing(tmp_path):
    kept = KeptFiles(tmp_path)
    with pytest.raises(ZeroDivisionError), kept.dropped_on_error():
        kept.keep(b"a", "train.csv")
        raise ZeroDivisionError
    with pytest.raises(SearchError, match=r"train\.csv cannot be kept there"):
        KeptFiles(tmp_path).keep_written("train.csv", lambda path: path.write_text("\ud800"))
    assert list(tmp_path.iterdir()) == []


def test_nothing_of_the_users_is_removed_or_followed(tmp_path):
    place = tmp_path / ".swarm-evo"
    place.mkdir()
    (place / "notes.txt").touch()
    (tmp_path / "mine" / ("a" * 16)).mkdir(parents=True)
    (place / ("b" * 16)).symlink_to(tmp_path / "mine")
    (place / "thesis").mkdir()
    os.mkfifo(run_of(tmp_path, "r", "").joinpath("pipe"))
    (tmp_path / "logs" / "r" / "config.yaml").unlink()
    os.mkfifo(tmp_path / "logs" / "r" / "config.yaml")  # a stranger's run: it is not waited for
    assert remove_unneeded(tmp_path) == []
    shutil.rmtree(tmp_path / "logs")
    assert remove_unneeded(tmp_path) == [] and sorted(os.listdir(place)) == ["b" * 16, "notes.txt", "thesis"]
    place.rename(tmp_path / "before")
    place.symlink_to(tmp_path / "mine")
    assert remove_unneeded(tmp_path) == [] and os.listdir(tmp_path / "mine") == ["a" * 16]


def test_calls_and_removals_side_by_side_lose_nothing(tmp_path):
    lost = []

    def work(number: int) -> None:
        for turn in range(15):
            kept = KeptFiles(tmp_path)
            path = kept.keep(bytes([turn % 3]), "evaluate.pkl")
            run = run_of(tmp_path, f"r{number}-{turn}", path)
            kept.drop()
            if path.read_bytes() != bytes([turn % 3]):
                lost.append(path)
            shutil.rmtree(run)
            remove_unneeded(tmp_path)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    remove_unneeded(tmp_path)  # two that looked at once may each have left what the other held
    assert lost == [] and not (tmp_path / ".swarm-evo").exists()
