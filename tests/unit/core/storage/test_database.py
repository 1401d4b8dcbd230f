"""The SQLite file of a run: what is refused, and in which words."""

from __future__ import annotations

import errno
import os
import resource
import sqlite3
import stat
from contextlib import closing
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.events import NoteAdded
from core.state.node import Node
from core.storage.connection import lacking_room
from core.storage.database import DB_NAME, Database
from core.storage.fault import FaultPoint
from core.storage.message_parts import message_parts
from core.storage.migrations import SCHEMA_VERSION
from core.storage.packing import parts_of
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from runs.proof.verification import verify_run
from utils.errors import StoreError, StoreVersionError, UnknownRunError


def test_a_newer_schema_is_refused_with_both_versions(tmp_path):
    RunStore(tmp_path).close()
    with sqlite3.connect(tmp_path / DB_NAME) as connection:
        connection.execute(f"PRAGMA user_version={SCHEMA_VERSION + 1}")
    connection.close()
    with pytest.raises(StoreVersionError, match=rf"schema {SCHEMA_VERSION + 1}.*up to {SCHEMA_VERSION}"):
        RunStore(tmp_path)
    with pytest.raises(StoreVersionError):
        RunReader(tmp_path)


def test_what_is_no_store_is_said_so(tmp_path):
    with pytest.raises(StoreError, match="no store at"):
        RunReader(tmp_path)
    (tmp_path / DB_NAME).write_bytes(b"")
    with pytest.raises(UnknownRunError, match="killed before it began"):
        RunReader(tmp_path)
    (tmp_path / DB_NAME).write_bytes(b"no database" * 500)
    with pytest.raises(StoreError, match="not a database"):
        RunReader(tmp_path)


def test_a_store_whose_maker_was_killed_holds_no_run_and_is_left_as_it_lies(tmp_path):
    """Killed while it became a file of pages: every verb said "attempt to write a readonly database"."""
    with closing(sqlite3.connect(tmp_path / DB_NAME)) as connection:
        connection.execute("PRAGMA page_size=8192")
        connection.execute("PRAGMA journal_mode=WAL")
    journal = tmp_path / f"{DB_NAME}-journal"
    begun = bytes.fromhex("d9d505f920a163d700000000c44d42a3000000000000020000002000").ljust(512, b"\0")
    journal.write_bytes(begun)
    for read in (RunReader, verify_run):
        with pytest.raises(UnknownRunError, match="killed before it began"):
            read(tmp_path)
    assert journal.exists(), "a reader takes nothing back"
    RunStore(tmp_path).close()
    with RunReader(tmp_path) as reader:
        assert reader.db.stored_version == SCHEMA_VERSION
    journal.write_bytes(begun)
    with pytest.raises(StoreError, match="readonly"):
        RunReader(tmp_path)
    assert verify_run(tmp_path).verdict == "tampered", "something stands in it"


def test_wal_mode_and_utc(tmp_path):
    store = RunStore(tmp_path)
    with store.db.transaction() as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    store.append([NoteAdded(text="x")])
    with RunReader(tmp_path) as reader:
        (event,) = reader.events()
    store.close()
    assert event.at.utcoffset().total_seconds() == 0


def test_a_reader_never_writes(tmp_path):
    RunStore(tmp_path).close()
    with pytest.raises(StoreError, match=r"read-?only"), RunReader(tmp_path) as reader:
        with reader.db.transaction() as connection:
            connection.execute("DELETE FROM facts")


def test_a_full_disk_is_one_clear_error_and_nothing_half_written(tmp_path):
    store = RunStore(tmp_path)
    store.put_fact("before", 1)
    with store.db.transaction() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages}")
    import random

    noise = random.Random(0).randbytes(200_000).hex()
    with pytest.raises(StoreError, match="full; make room there, and `resume` goes on") as caught:
        store.commit([Node(id="n", code=noise)], [NoteAdded(text="x")])
    assert noise[:50] not in str(caught.value)
    assert store.nodes() == [] and store.get_fact("before") == 1 and store.seq == 0
    with store.db.transaction() as connection:
        connection.execute("PRAGMA max_page_count=1000000")
    store.commit([Node(id="n", code=noise)], [NoteAdded(text="x")])
    assert store.nodes()[0].code == noise and store.seq == 1
    store.close()


@pytest.mark.parametrize(
    ("free", "most", "flags", "told"),
    [
        (0, resource.RLIM_INFINITY, 0, "error: the disk is full; the run has not begun: make room there and begin it"),
        (8, 50_000, 0, r"error: files may grow to 50,000 bytes here \(ulimit -f\)"),
        (
            8,
            10**9,
            os.ST_RDONLY,
            "error: its disk is read-only now; once it can be written, `resume` goes on from what",
        ),
        (8, 10**9, 0, "error$"),
    ],
)
def test_what_an_input_output_error_of_sqlites_comes_from_is_told(tmp_path, monkeypatch, free, most, flags, told):
    """So it calls an index of its log that finds no room, a file that may not grow, and a disk that was mounted anew
    as read-only since faults were found on it."""
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
    with closing(Database(tmp_path / DB_NAME)) as database:
        monkeypatch.setattr(os, "statvfs", lambda folder: SimpleNamespace(f_bavail=free, f_frsize=4096, f_flag=flags))
        monkeypatch.setattr(resource, "getrlimit", lambda what: (most, most))
        with pytest.raises(StoreError, match=told), database._refusals():
            raise error
        monkeypatch.undo()


def test_a_folder_that_cannot_be_written_is_a_store_error(tmp_path):
    folder = tmp_path / "run"
    RunStore(folder).close()
    with sqlite3.connect(folder / DB_NAME) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    connection.close()
    (folder / DB_NAME).chmod(stat.S_IRUSR)
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        try:
            (folder / "probe").touch()
        except PermissionError:
            pass
        else:
            pytest.skip("this user writes everywhere (root)")
        with pytest.raises(StoreError):
            RunStore(folder).put_fact("x", 1)
    finally:
        folder.chmod(stat.S_IRWXU)


def test_texts_lie_once_and_messages_by_their_sections(tmp_path):
    db = Database(tmp_path / "x.db")
    shared = "# Task\n" + "the same for all\n" * 100
    memory = "# Memory\n" + "what was tried, at some length, so that it has a row of its own\n" * 4 + "by number: "
    with db.transaction():
        first = db.texts.put_parts(shared + memory + "one\n")
        second = db.texts.put_parts(shared + memory + "two\n")
        assert db.texts.get_parts(second) == shared + memory + "two\n"  # also before the commit
    with db.transaction() as connection:
        count = connection.execute("SELECT count(*) FROM texts").fetchone()[0]
        size = connection.execute("SELECT sum(length(body)) FROM texts").fetchone()[0]
    assert first != second and count == 5 and size < 350, "three sections and two lists"
    assert db.texts.get_parts(second) == shared + memory + "two\n"
    db.close()


def test_a_program_in_a_prompt_is_the_same_text_as_the_program(tmp_path):
    db = Database(tmp_path / "x.db")
    code = "# a heading, it seems\n## and another\nprint('```')\n" + "x = 1\n" * 20
    assert 80 < len(code) < 200, "a text of this length that is no program has no row of its own"
    prompt = f"## Previous attempt\n\nIts code:\n\n````python\n{code}````\n\n## Format\n\n```\nnever closed\n# x\n"
    with db.transaction():
        name = db.texts.put(code)
        parts = db.texts.put_parts(prompt)
        assert name in parts_of(parts, db.texts.end_of) and db.texts.get_parts(parts) == prompt
    db.close()


def test_of_a_memory_that_grew_only_the_end_is_a_new_text(tmp_path):
    db = Database(tmp_path / "x.db")
    lines = [f"[{i}] mutate of [{i // 2}]: {i * 37 % 101}, as it was planned\n" for i in range(600)]
    told = []
    for count in (400, 500, 550, 600):
        with db.transaction():
            told.append(db.texts.put_parts("## Memory\n\n" + "".join(lines[:count]) + "\n"))
    names = [set(parts_of(parts, db.texts.end_of)) for parts in told]
    assert len(names[0]) == 1, "the first is whole"
    assert len(names[1]) > 4 and all(len(names[1] - later) == 1 for later in names[2:]), "but for the last piece"
    assert db.texts.get_parts(told[3]) == "## Memory\n\n" + "".join(lines) + "\n"
    db.close()


@given(st.lists(st.sampled_from(["```", "````", "```py", "## a", "# b", "text", "", " ```"]), max_size=12))
def test_the_parts_of_a_message_are_the_message(lines):
    body = "\n".join(lines)
    assert "".join(message_parts(body)) == body


def test_what_a_failed_transaction_stored_is_stored_again(tmp_path):
    db = Database(tmp_path / "x.db")
    with pytest.raises(ZeroDivisionError), db.transaction():
        db.texts.put("once")
        raise ZeroDivisionError
    with db.transaction():
        name = db.texts.put("once")
    assert db.texts.get(name) == "once"
    db.close()


def test_a_fault_point_counts_its_own_kind_only(monkeypatch):
    killed: list[int] = []
    monkeypatch.setattr("os.kill", lambda pid, number: killed.append(number))
    point = FaultPoint({"SWARM_EVO_FAULT": "after:fact:final:2"})
    point.before("fact:final"), point.after("commit"), point.after("fact:final")
    assert killed == []
    point.after("fact:final")
    assert killed == [9]
    FaultPoint({}).after("commit")
    assert killed == [9]


def test_a_session_without_room_for_a_file_is_told_as_that(tmp_path):
    """SQLite says no more than that it cannot open the file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        with pytest.raises(StoreError, match=r"unable to open database file: \[Errno 24\] Too many open files"):
            Database(tmp_path / "run.db")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    (tmp_path / "run.db").mkdir()
    with pytest.raises(StoreError, match=r"unable to open database file$"):
        Database(tmp_path / "run.db")


def test_room_that_other_threads_had_for_a_moment_is_told_too(tmp_path, monkeypatch):
    """They had closed their files when it was asked: a start with 20 could not open its store, for no reason told."""
    monkeypatch.setattr("core.storage.connection.resource.getrlimit", lambda _: (40, 40))
    monkeypatch.setattr("core.storage.connection.os.listdir", lambda _: ["0", "1", "2"])
    assert "Too many open files" in lacking_room(tmp_path)
    assert lacking_room(tmp_path / "gone") == "", "a folder that is not there is the reason"
    monkeypatch.setattr("core.storage.connection.resource.getrlimit", lambda _: (1024, 1024))
    assert lacking_room(tmp_path) == ""


@pytest.mark.parametrize("number, told", [(errno.EMFILE, True), (errno.ENOENT, False), (errno.EACCES, False)])
def test_a_machine_that_lists_no_descriptors_is_not_told_as_the_reason(number, told, tmp_path, monkeypatch):
    """Where /proc is missing or closed, a folder that could not be written was told as "No such file: /proc"."""

    def refuse(_path):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("core.storage.connection.os.listdir", refuse)
    assert lacking_room(tmp_path) == (f": [Errno {number}] {os.strerror(number)}" if told else "")
