"""The search of memory: only pages that somebody has used, and all of those."""

from __future__ import annotations

import ctypes
import mmap
import os
from contextlib import suppress
from hashlib import blake2b

import pytest

from core.executor.inside import looker

PAGE = mmap.PAGESIZE


@pytest.fixture
def memory_alone(monkeypatch):
    """A look through memory, and not through all files of the machine on which the test runs, too."""
    for other in ("paths", "packages", "tree", "environment", "others"):
        monkeypatch.setattr(looker.Looker, other, lambda self: None)


def place_of(region: mmap.mmap) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(region))


@pytest.mark.skipif(not os.path.exists("/proc/self/pagemap"), reason="this kernel does not say what anybody has used")
def test_pages_that_nobody_used_are_left_out():
    region = mmap.mmap(-1, 64 * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):  # a kernel without large pages
        region.madvise(mmap.MADV_NOHUGEPAGE)
    start = place_of(region)
    for page in (5, 6, 40):
        region[page * PAGE] = 1
    parts = list(looker.touched([(start, start + 64 * PAGE)]))
    covered = {at for begin, end in parts for at in range((begin - start) // PAGE, (end - start) // PAGE)}
    assert covered == {5, 6, 40}
    assert all(start <= begin < end <= start + 64 * PAGE for begin, end in parts)


def test_where_the_kernel_does_not_say_all_is_searched(monkeypatch):
    def refused(*_):
        raise OSError(13, "Permission denied")

    monkeypatch.setattr(looker, "_are_there", refused)
    assert list(looker.touched([(0, PAGE), (4 * PAGE, 8 * PAGE)])) == [(0, PAGE), (4 * PAGE, 8 * PAGE)]


def test_an_answer_is_found_behind_marks_that_are_followed_by_something_else():
    key, secret = b"k" * 16, b"mark: the answer is 42"
    digest = blake2b(secret, digest_size=16, key=key).hexdigest()
    plan = {"key": key.hex(), "files": [], "patterns": [], "marks": []}
    found = looker.Looker(plan)
    text = b"." * 100 + b"mark: nothing of that " + b"mark:" + b"." * 30 + secret + b"mark:"
    buffer = ctypes.create_string_buffer(text, len(text))
    start, mark = ctypes.addressof(buffer), (b"mark:", len(secret), digest, "labels.csv", False)
    found.search_at(start, len(text) - 60, "memory", "0x10", [mark])
    assert found.found == []
    found.search_at(start, len(text), "memory", "0x10", [mark])
    assert found.found == [{"how": "memory", "what": "labels.csv", "where": "0x10"}]
    found.marks = [mark]
    found.search(text, "file", "/tmp/copy")
    found.search(b"", "file", "/tmp/empty")
    assert found.found[1:] == [{"how": "file", "what": "labels.csv", "where": "/tmp/copy"}]


@pytest.mark.parametrize(
    "behind, is_told", [(b"5,1", False), (b"", True), (b",1", True), (b"\r\n", True), (b"\0", True)]
)
def test_an_answer_is_one_where_its_field_ends(behind, is_told):
    """`7,3` is the beginning of `7,35`, which is another row's business."""
    digest = blake2b(b"id7,3", digest_size=16, key=b"k" * 16).hexdigest()
    found = looker.Looker({"key": (b"k" * 16).hex(), "files": [], "patterns": [], "marks": []})
    found.marks = [(b"id7,", 5, digest, "labels.csv", True)]
    found.search(b"id6,3\nid7,3" + behind, "file", "/tmp/copy")
    assert bool(found.found) is is_told
    found.search(b"id7,35\nid7,3" + behind, "file", "/tmp/copy")
    assert len(found.found) == 2 * is_told, "also behind one that is none"


@pytest.mark.usefixtures("memory_alone")
def test_memory_that_was_given_back_is_passed_over_and_an_answer_behind_it_is_found(monkeypatch):
    """Regions are listed first: what the allocator gives back until they are looked at ended the self-test."""
    key, secret = b"k" * 16, b"mark: the answer is 42"
    digest = blake2b(secret, digest_size=16, key=key).hexdigest()
    found = looker.Looker({"key": key.hex(), "files": [], "patterns": [], "marks": []})
    found.marks = [(b"mark:", len(secret), digest, "labels.csv", False)]
    there = mmap.mmap(-1, 300 * PAGE)
    there[200 * PAGE - 9 : 200 * PAGE - 9 + len(secret)] = secret
    begin = ctypes.addressof(ctypes.c_char.from_buffer(there))
    places = [(PAGE, 4 * PAGE), (begin, begin + 300 * PAGE)]  # nothing is ever mapped at the first
    monkeypatch.setattr(looker, "touched", lambda _: places)
    found.look()
    assert ("memory", "labels.csv") in [(one["how"], one["what"]) for one in found.found]


def test_an_answer_at_the_end_of_a_piece_is_whole_in_the_next_one():
    key, secret = b"k" * 16, b"mark: the answer is 42"
    digest = blake2b(secret, digest_size=16, key=key).hexdigest()
    there = mmap.mmap(-1, 300 * PAGE)
    there[looker._CHUNK - 9 : looker._CHUNK - 9 + len(secret)] = secret
    pieces = list(looker._pieces([(place_of(there), place_of(there) + 300 * PAGE)]))
    found = looker.Looker({"key": key.hex(), "files": [], "patterns": [], "marks": []})
    found.marks = [(b"mark:", len(secret), digest, "labels.csv", False)]
    found.memory(looker._own_memory(), pieces)
    assert [(one["how"], one["what"]) for one in found.found] == [("memory", "labels.csv")]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.usefixtures("memory_alone")
def test_a_search_of_memory_that_broke_off_is_not_clean(monkeypatch):
    """It is searched by threads, of which nobody hears the exceptions."""
    found = looker.Looker({"key": "00", "files": [], "patterns": [], "marks": []})
    monkeypatch.setattr(looker, "_copied", lambda *_: 1 // 0)
    with pytest.raises(RuntimeError, match="not searched to its end"):
        found.look()


def test_what_the_kernel_reads_in_parts_is_searched_to_its_end(monkeypatch):
    whole, asked = looker._copied, []

    def in_parts(own, place, target):
        asked.append(len(target))
        return whole(own, place, target[: max(1, len(target) // 2)] if len(target) > PAGE else target)

    monkeypatch.setattr(looker, "_copied", in_parts)
    found = looker.Looker({"key": "00", "files": [], "patterns": [], "marks": []})
    there = mmap.mmap(-1, 8 * PAGE)
    there[:] = b"x" * len(there)
    found.memory(looker._own_memory(), [(place_of(there), place_of(there) + 8 * PAGE)])
    assert found.looked["memory"] == 8 * PAGE and len(asked) > 1


def place_and_search(there, at, secret):
    """What a search finds of a secret at that place."""
    key = b"k" * 16
    digest = blake2b(secret, digest_size=16, key=key).hexdigest()
    there[at : at + len(secret)] = secret
    found = looker.Looker({"key": key.hex(), "files": [], "patterns": [], "marks": []})
    found.marks = [(b"mark:", len(secret), digest, "labels.csv", False)]
    found.look()
    return {one["what"] for one in found.found if one["how"] == "memory"}


@pytest.mark.usefixtures("memory_alone")
def test_an_answer_in_two_parts_that_the_kernel_reads_is_found(monkeypatch):
    """Each part was searched by itself."""
    whole = looker._copied
    monkeypatch.setattr(looker, "_copied", lambda own, place, target: whole(own, place, target[:PAGE]))
    there = mmap.mmap(-1, 8 * PAGE)
    monkeypatch.setattr(looker, "touched", lambda _: [(place_of(there), place_of(there) + 8 * PAGE)])
    assert place_and_search(there, 3 * PAGE - 9, b"mark: the answer is 42") == {"labels.csv"}


@pytest.mark.usefixtures("memory_alone")
def test_an_answer_behind_memory_that_was_given_back_is_found_within_one_piece(monkeypatch):
    whole = looker._copied
    there = mmap.mmap(-1, 8 * PAGE)
    begin = place_of(there)

    def with_hole(own, place, target):
        """Its third page is given back."""
        to_hole = begin + 2 * PAGE - place
        if -PAGE < to_hole <= 0:
            return 0
        return whole(own, place, target[:to_hole] if to_hole > 0 else target)

    monkeypatch.setattr(looker, "_copied", with_hole)
    monkeypatch.setattr(looker, "touched", lambda _: [(begin, begin + 8 * PAGE)])
    assert place_and_search(there, 5 * PAGE, b"mark: the answer is 42") == {"labels.csv"}


@pytest.mark.usefixtures("memory_alone")
def test_a_long_answer_between_two_pieces_is_found(monkeypatch):
    there = mmap.mmap(-1, 300 * PAGE)
    monkeypatch.setattr(looker, "touched", lambda _: [(place_of(there), place_of(there) + 300 * PAGE)])
    secret = b"mark: " + b"a long answer " * 2000
    assert place_and_search(there, looker._CHUNK - len(secret) // 2, secret) == {"labels.csv"}


@pytest.mark.usefixtures("memory_alone")
def test_an_answer_behind_more_used_memory_than_was_ever_searched_is_found(monkeypatch):
    """Where the kernel says what was used all of that is searched: 256 MB were, and libraries alone may take those."""
    monkeypatch.setattr(looker, "MOST_MEMORY", 8 << 20)
    before = mmap.mmap(-1, 24 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    ctypes.memset(place_of(before), 1, len(before))
    monkeypatch.setattr(looker, "regions", lambda: [(place_of(before), place_of(before) + len(before))])
    for at in (9, len(before) - 99):
        assert place_and_search(before, at, b"mark: the answer is 42") == {"labels.csv"}
        before[at : at + 22] = b"." * 22


def test_where_the_kernel_does_not_say_what_was_used_the_search_has_an_end(monkeypatch):
    """Libraries ask for gigabytes that they never use."""
    monkeypatch.setattr(looker, "MOST_MEMORY", 6 * PAGE)
    places = [(0, 4 * PAGE), (10 * PAGE, 1 << 40), (1 << 41, 1 << 42)]
    assert list(looker._first(places)) == [(0, 4 * PAGE), (10 * PAGE, 12 * PAGE)]


def test_a_file_of_answers_that_was_left_in_memory_is_found(tmp_path):
    """It has no descriptor any more, and memory that belongs to a file is not searched."""
    (tmp_path / "labels.csv").write_text("id,y\n1,2\n" * 99)
    status = (tmp_path / "labels.csv").stat()
    hidden = {"name": "labels.csv", "path": "/nowhere", "device": status.st_dev, "inode": status.st_ino,
              "size": status.st_size, "digest": ""}  # fmt: skip
    found = looker.Looker({"key": "00", "files": [hidden], "patterns": [], "marks": []})
    found.mappings()
    assert found.found == []
    with open(tmp_path / "labels.csv", "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    found.mappings()
    assert [(one["how"], one["what"]) for one in found.found] == [("mapping", "labels.csv")]
    mapped.close()


def test_where_we_read_our_memory_ourselves_nothing_runs_beside_that(monkeypatch):
    """Another thread may give a place back that was listed: to look there ends the process."""
    order = []
    monkeypatch.setattr(looker, "_own_memory", lambda: None)
    monkeypatch.setattr(looker, "regions", lambda: [(PAGE, 4 * PAGE)])
    monkeypatch.setattr(looker, "_copied", lambda own, place, target: order.append("memory") or len(target))
    monkeypatch.setattr(looker.Looker, "search_at", lambda *_: None)
    found = looker.Looker({"key": "00", "files": [], "patterns": [], "marks": []})
    monkeypatch.setattr(found, "paths", lambda: order.append("paths"))
    for other in ("packages", "tree", "environment", "others"):
        monkeypatch.setattr(found, other, lambda: None)
    found.look()
    assert order.index("paths") == len(order) - 1
