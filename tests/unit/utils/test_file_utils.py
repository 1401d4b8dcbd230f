import os
import threading
from pathlib import Path

import pytest

from utils.file_utils import (
    files_below,
    folder_for,
    in_place_of,
    is_lfs_pointer,
    link_or_copy,
    move_into_place,
    remove,
    size_text,
    staged,
    write_atomic,
)


def test_a_link_shows_its_source_and_goes_without_it(tmp_path):
    source = tmp_path / "data"
    source.mkdir()
    (source / "a.csv").write_text("1")
    assert link_or_copy(source, tmp_path / "w" / "input")
    assert (tmp_path / "w" / "input" / "a.csv").read_text() == "1"
    remove(tmp_path / "w" / "input")
    assert (source / "a.csv").exists()


def test_where_links_are_refused_the_content_is_copied(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise OSError("no links here")

    source = tmp_path / "data"
    source.mkdir()
    (source / "a.csv").write_text("1")
    monkeypatch.setattr("pathlib.Path.symlink_to", refuse)
    assert not link_or_copy(source, tmp_path / "input")
    (source / "a.csv").write_text("2")
    assert (tmp_path / "input" / "a.csv").read_text() == "1"


def test_linking_what_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        link_or_copy(tmp_path / "nothing", tmp_path / "input")


def test_a_file_of_the_users_is_whole_or_as_it_was(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("mine")
    real.chmod(0o640)
    link.symlink_to("real")
    with pytest.raises(OSError, match="full"), in_place_of(link) as new:
        new.write_text("half")
        raise OSError("the disk is full")
    assert real.read_text() == "mine"
    with in_place_of(link) as new:
        new.write_text("whole")
    assert link.is_symlink() and real.read_text() == "whole" and real.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real"]
    with in_place_of(tmp_path / ("n" * 255)) as new:  # as long as a name may be
        new.write_text("x")


def test_what_another_file_cannot_stand_for_is_written_as_it_is(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", Path("/dev/stdout"), tmp_path):
        with in_place_of(place) as new:
            assert new == place


def test_a_reader_never_sees_half_a_file(tmp_path):
    path, seen, stop = tmp_path / "x.json", set(), threading.Event()
    write_atomic(path, "a" * 100_000)

    def read():
        while not stop.is_set():
            text = path.read_text()
            seen.add((len(text), text[:1], text[-1:]))

    reader = threading.Thread(target=read)
    reader.start()
    for letter in "bcdefgh":
        write_atomic(path, letter * 100_000)
    stop.set()
    reader.join()
    assert all(size == 100_000 and first == last for size, first, last in seen)
    assert [p.name for p in tmp_path.iterdir()] == ["x.json"]


def test_writers_that_come_at_once_do_not_meet(tmp_path):
    start, faults = threading.Barrier(8), []

    def write(letter):
        start.wait()
        try:
            for _ in range(50):
                write_atomic(tmp_path / "x", letter * 10_000)
        except OSError as error:
            faults.append(error)

    writers = [threading.Thread(target=write, args=(letter,)) for letter in "abcdefgh"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert not faults
    assert len(set((tmp_path / "x").read_text())) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


def test_what_breaks_off_leaves_the_old_file_alone(tmp_path):
    write_atomic(tmp_path / "x", "old")
    with pytest.raises(RuntimeError), staged(tmp_path / "x") as new:
        new.write_text("half")
        raise RuntimeError
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("x", "old")]


def test_the_first_to_finish_wins_and_the_second_leaves_nothing(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "who").write_text(name)
    assert move_into_place(tmp_path / "one", tmp_path / "cache" / "x")
    assert not move_into_place(tmp_path / "two", tmp_path / "cache" / "x")
    assert (tmp_path / "cache" / "x" / "who").read_text() == "one"
    assert not (tmp_path / "two").exists()


def test_whoever_makes_the_same_folder_at_once_has_one_of_his_own_and_what_a_kill_left_goes(tmp_path):
    """By process ids, which two threads share, and two containers: each removed what the other was making."""
    target = tmp_path / "data"
    (tmp_path / ".data.7").mkdir()
    (tmp_path / ".data.7" / "half").touch()
    with folder_for(target) as one, folder_for(target) as two:
        assert one.is_dir() and two.is_dir() and one != two and not (tmp_path / ".data.7").exists()
        (two / "who").write_text("two")
        assert move_into_place(two, target) and not move_into_place(one, target)
    with pytest.raises(RuntimeError), folder_for(target):
        raise RuntimeError
    assert [path.name for path in tmp_path.iterdir()] == ["data"] and [p.name for p in target.iterdir()] == ["who"]


def test_an_lfs_pointer_is_recognised(tmp_path):
    pointer, data = tmp_path / "p.csv", tmp_path / "d.csv"
    pointer.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n")
    data.write_text("a,b\n1,2\n")
    assert is_lfs_pointer(pointer)
    assert not is_lfs_pointer(data)
    assert not is_lfs_pointer(tmp_path / "absent")


def test_files_below_come_in_order_and_links_to_folders_are_not_entered(tmp_path):
    (tmp_path / "b").mkdir()
    for name in ("b/2", "a", "b/1"):
        (tmp_path / name).write_text("")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert [str(p.relative_to(tmp_path)) for p in files_below(tmp_path)] == ["a", "b/1", "b/2"]


@pytest.mark.parametrize(("count", "text"), [(0, "0 B"), (999, "999 B"), (1400, "1.4 KB"), (2_500_000, "2.5 MB")])
def test_sizes_for_people(count, text):
    assert size_text(count) == text
