"""Packed texts come back as they were, in every form; what is none of ours is refused."""

from __future__ import annotations

import json
import random
import sqlite3
import tracemalloc
import zlib
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.state.node import Node
from core.storage import packing
from core.storage.database import DB_NAME, Database
from core.storage.message_parts import OUTPUT, kinds_of, message_parts
from core.storage.packing import (
    DIFFERENCES,
    JSON,
    JSON_DICTIONARY,
    Figures,
    _deflated,
    dictionaries_of,
    difference,
    json_of,
    json_text,
    name_of,
    pack_json,
    packed,
    parts_of,
    raw_text,
    whole_text,
)
from core.storage.rows import node_from_row, node_values
from core.storage.text_packer import TextPacker
from swarm_evo.result import stored_text

NAME = name_of(b"")
FIRST = {"JSON_DICTIONARY": 794806011, "ROW_DICTIONARY": 3779257180}
"""CRC-32 of what stored files depend on."""
TEXTS = st.one_of(st.text(alphabet="012345 .\nabc{}", max_size=400), st.text(max_size=100)).map(
    lambda text: text.encode("utf-8", "surrogatepass")
)


def never(name: str) -> bytes:
    raise AssertionError(name)


@given(TEXTS, TEXTS)
def test_each_form_is_the_text_again(raw, other):
    for stored in (*(packed(raw, figures) for figures in Figures), raw.decode("utf-8", "surrogatepass")):
        assert raw_text(stored, never) == raw == whole_text(stored)
    for figures in Figures:
        stored = difference(raw, NAME, dictionaries_of(other, figures), figures)
        assert raw_text(stored, {NAME: other}.__getitem__) == raw


@given(st.text(max_size=200))
def test_json_of_rows_comes_back(text):
    assert json_text(pack_json(text)) == text == json_text(text)


def test_the_dictionaries_of_stored_rows_never_change():
    """Files hold rows that were packed with them: another one needs another first byte."""
    assert {name: zlib.crc32(getattr(packing, name)) for name in FIRST} == FIRST


@given(st.binary(max_size=80))
def test_foreign_bytes_are_refused_and_nothing_else(stored):
    for read in (lambda: raw_text(stored, lambda name: b""), lambda: whole_text(stored), lambda: json_text(stored)):
        try:
            read()
        except (ValueError, zlib.error):
            pass


def test_what_is_cut_off_is_refused():
    raw = "".join(f"line {n} of {n * n}\n" for n in range(200)).encode()
    forms = [packed(raw, Figures.APART), packed(raw, Figures.COLUMNS)]
    forms += [difference(raw, NAME, dictionaries_of(b"line", figures), figures) for figures in Figures]
    for stored in forms:
        for end in (1, 4, 13, len(stored) // 2, len(stored) - 1):
            with pytest.raises((ValueError, zlib.error)):
                raw_text(stored[:end], lambda name: b"line")


def test_a_difference_to_a_difference_is_refused_so_that_no_file_sends_a_reader_in_circles():
    with pytest.raises(ValueError, match="where a whole text is expected"):
        whole_text(difference(b"x", NAME, (b"", b"")))


# ------------------------------------------------------------ what is packed how


def programs(count: int, rng: random.Random) -> list[str]:
    """A program and its descendants, each with one line changed."""
    lines = [f"x{n} = frame['column {n}'].rank() * {rng.random()}" for n in range(60)]
    found = []
    for _ in range(count):
        lines[rng.randrange(60)] = f"y = train(depth={rng.randrange(99)}, rate={rng.random()})"
        found.append("\n".join(lines) + "\n")
    return found


def logs(count: int, rng: random.Random) -> list[str]:
    return ["".join(f"epoch {n} loss {rng.random():.6f}\n" for n in range(200)) for _ in range(count)]


@pytest.mark.parametrize(("texts", "share"), [(programs, 0.08), (logs, 0.15)])
def test_a_run_of_texts_takes_little_and_is_read_in_any_order(tmp_path, texts, share):
    rng = random.Random(1)
    found = texts(120, rng)
    db = Database(tmp_path / DB_NAME)
    names = []
    for text in found:
        with db.transaction():
            names.append(db.texts.put(text, "kind"))
    db.close()
    again = Database(tmp_path / DB_NAME, read_only=True)
    order = list(range(120))
    rng.shuffle(order)
    assert all(again.texts.get(names[n]) == found[n] for n in order)
    with closing(sqlite3.connect(tmp_path / DB_NAME)) as plain:
        rows = dict(plain.execute("SELECT hash, body FROM texts"))
        assert sum(map(len, rows.values())) < share * sum(map(len, found))
        assert all(stored_text(plain, rows[name]) == text for name, text in zip(names, found, strict=True))
    again.close()


def test_texts_of_two_lines_of_descent_find_their_own(tmp_path):
    """Programs of islands come in turns: each is a difference to what it shares lines with."""
    rng, packer = random.Random(2), TextPacker(never)
    one, two = programs(60, rng), programs(60, rng)
    sizes = []
    for text in (text for pair in zip(one, two, strict=True) for text in pair):
        stored = packer.pack(name_of(text.encode()), text.encode(), "kind")
        sizes.append(len(stored) if stored[:1] in DIFFERENCES else None)
    assert sum(size is None for size in sizes) < 14 and max(filter(None, sizes[20:])) < 900


def test_a_message_in_parts_is_told_by_names_that_lie_there(tmp_path):
    db = Database(tmp_path / DB_NAME)
    words = " and the same words in each of them," * 3
    messages = ["".join(f"# Part {k}\nsays{words} {n if k == 3 else k}\n" for k in range(9)) for n in range(40)]
    stored = []
    for message in messages * 2:  # a list of names comes again too
        with db.transaction():
            stored.append(db.texts.put_parts(message, "names"))
    assert [db.texts.get_parts(one) for one in stored] == messages * 2
    assert all(len(parts_of(one, db.texts.end_of)) == 9 for one in stored)
    assert sum(map(len, stored[40:])) / 40 < 60, "nine names of 16 letters each"
    db.close()


def test_short_parts_stand_in_the_list_itself(tmp_path):
    db = Database(tmp_path / DB_NAME)
    message = '# "a"\n```\nx\n```\n\u2028 end\ud800'
    with db.transaction() as connection:
        stored = db.texts.put_parts(message, "names")
        assert connection.execute("SELECT count(*) FROM texts").fetchone()[0] == 0
    assert db.texts.get_parts(stored) == message and db.texts.get_parts(db_parts(db, "")) == ""
    db.close()


def db_parts(db: Database, message: str) -> bytes:
    with db.transaction():
        return db.texts.put_parts(message, "names")


def test_a_text_of_an_earlier_life_that_becomes_what_others_differ_from_lies_whole(tmp_path):
    """It lay there as a difference. What is a difference to it now must find it whole."""
    texts = programs(40, random.Random(3))
    for life in range(3):
        db = Database(tmp_path / DB_NAME)
        with db.transaction():
            names = [db.texts.put(text, "kind") for text in (texts if life % 2 == 0 else reversed(texts))]
        assert [db.texts.get(name) for name in names] == (texts if life % 2 == 0 else texts[::-1])
        db.close()


def test_nothing_differs_from_what_a_failed_transaction_stored(tmp_path):
    first, second = programs(2, random.Random(4))
    db = Database(tmp_path / DB_NAME)
    with pytest.raises(ZeroDivisionError), db.transaction():
        db.texts.put(first, "kind")
        raise ZeroDivisionError
    with db.transaction():
        name = db.texts.put(second, "kind")
    db.close()
    again = Database(tmp_path / DB_NAME, read_only=True)
    assert again.texts.get(name) == second
    again.close()


def test_what_prompts_quote_of_outputs_lies_once(tmp_path):
    outputs = logs(40, random.Random(5))
    quotes = [f"{text[:1500]}[…]\n{text[-1500:]}" for text in outputs]
    db = Database(tmp_path / DB_NAME)
    for text in outputs:
        with db.transaction():
            db.texts.put(text, OUTPUT)
    with db.transaction():
        names = [db.texts.put(quote, "## The program ```") for quote in quotes]
    lying = [len(db.select("SELECT body FROM texts WHERE hash = ?", (name,))[0][0]) for name in names]
    assert sum(lying) / len(lying) < 100, "of 3,000 characters, some 1,000 of which are digits"
    db.close()
    again = Database(tmp_path / DB_NAME, read_only=True)
    assert [again.texts.get(name) for name in names] == quotes
    again.close()


def test_an_output_that_comes_again_is_read_while_it_is_written_again(tmp_path, monkeypatch):
    """It lies whole, and quotes differ from it; packed once more it may be a difference itself."""
    monkeypatch.setattr("core.storage.stored_texts._KNOWN_TEXTS", 1)
    first, second = logs(1, random.Random(6))[0], "".join(f"epoch {n} loss is not a number\n" for n in range(200))
    near = second.replace("epoch 7 ", "epoch 8 ")
    quote = second[:600] + second[-900:]
    db = Database(tmp_path / DB_NAME)
    with db.transaction():
        db.texts.put(second, OUTPUT)
    with db.transaction():
        name = db.texts.put(quote, "## The program ```")
    for text in (first, near):
        with db.transaction():
            db.texts.put(text, OUTPUT)
    db.texts._bases.clear()
    with db.transaction():
        db.texts.put(second, OUTPUT)
        assert db.texts.get(name) == quote
    db.close()


def test_what_closes_a_block_of_a_message_opens_none():
    parts = message_parts("## Seen [12]\n```\n1 2\n```\n\n## Best ([3], merge)\nhere:\n```python\nx = 1\n```\nend\n")
    assert list(zip(kinds_of(parts), parts, strict=True))[1::2] == [
        ("## Seen [12] ```", "1 2\n"),
        ("part ## Best", "## Best ([3], merge)\nhere:\n```python\n"),
        ("part ## Best", "```\nend\n"),
    ]


def test_a_small_text_that_would_fill_the_memory_is_refused(monkeypatch):
    """The store may be a stranger's: `verify`, `show` and the page read it."""
    bombs = [*(packed(b"a" * 5000, figures) for figures in Figures), difference(b"a" * 5000, NAME, (b"", b""))]
    assert all(raw_text(bomb, lambda name: b"") == b"a" * 5000 for bomb in bombs)
    monkeypatch.setattr(packing, "MOST_BYTES", 4000)
    for bomb in bombs:
        with pytest.raises(ValueError, match="longer than"):
            raw_text(bomb, lambda name: b"")


@pytest.mark.parametrize("figures", Figures)
def test_no_text_takes_many_times_its_length_to_read(figures):
    """Of a hundred kilobytes whose 256 MB are figures reading took 3.4 GB."""
    stored = packed(b"7" * (16 << 20), figures)
    tracemalloc.start()
    try:
        assert len(raw_text(stored, never)) == 16 << 20
        assert tracemalloc.get_traced_memory()[1] < 6 * (16 << 20)
    finally:
        tracemalloc.stop()


def test_of_what_differences_refer_to_no_more_is_kept_than_they_reach(tmp_path):
    """A stranger's store may hold many that are as long as a text can be, each in a few bytes."""
    other = b"a" * 10**6
    with closing(sqlite3.connect(tmp_path / DB_NAME)) as plain:
        Database(tmp_path / DB_NAME).close()
        rows = [
            (name_of(other), packed(other)),
            ("x", difference(b"ab", name_of(other), dictionaries_of(other, Figures.WITHIN))),
        ]
        plain.executemany("INSERT INTO texts VALUES (?, ?)", rows)
        plain.commit()
    with closing(Database(tmp_path / DB_NAME, read_only=True)) as db:
        assert db.texts.get("x") == "ab"
        assert [len(end) for end in db.texts._bases.values()] == [packing.WINDOW]


def test_a_long_text_is_not_turned_and_none_that_says_so_is_read():
    """Two digits a line, sixty million lines in a hundred kilobytes: reading them took four gigabytes."""
    long = b"00\n" * (packing.MOST_TURNED // 3 + 1)
    stored = packed(long, Figures.COLUMNS)
    assert stored[:1] == packed(long, Figures.APART)[:1] and raw_text(stored, never) == long
    text, digits = packing.figures_apart(long, Figures.COLUMNS)
    bomb = b"\5" + packing._figures_deflated((text, digits), (b"", b""))
    with pytest.raises(ValueError, match="longer than 1 MB"):
        raw_text(bomb, never)


def test_only_the_end_of_a_text_is_kept_for_differences_to_it():
    other = b"".join(b"line %d of %d\n" % (n, n * n) for n in range(9000))
    for figures in Figures:
        stored = difference(b"line 1 of 1\n", NAME, dictionaries_of(other, figures), figures)
        assert raw_text(stored, lambda name: other) == b"line 1 of 1\n"
    assert all(len(part) <= packing.WINDOW for figures in Figures for part in dictionaries_of(other, figures))


def test_a_row_of_json_that_would_fill_the_memory_is_refused_and_never_written():
    """A quarter of a megabyte of a stranger's file would otherwise be 256 MB, and its objects some gigabytes."""
    text = "[" + "[]," * (6 << 20) + "0]"
    bomb = JSON + _deflated(text.encode(), JSON_DICTIONARY)
    assert len(bomb) < 200_000
    tracemalloc.start()
    with pytest.raises(ValueError, match="longer than 16 MB"):
        json_of(bomb)
    assert tracemalloc.get_traced_memory()[1] < 40 << 20
    tracemalloc.stop()
    assert pack_json(text) == text == json_text(text), "ours of that kind lies as it is"


def test_long_json_that_takes_its_room_in_the_file_comes_back():
    rng = random.Random(5)
    text = json.dumps([rng.random() for _ in range(1_000_000)])
    stored = pack_json(text)
    assert isinstance(stored, bytes) and len(text) > 16 << 20 and json_text(stored) == text


def test_a_node_with_an_artifact_that_packs_too_well_is_read_as_it_was(tmp_path):
    artifact = "0.0, " * (4 << 20)
    node = Node(id="a" * 12, code="x = 1", metric_value=1.0, ctime=0.0, artifacts={"trace": artifact}, plan="p")
    db = Database(tmp_path / DB_NAME)
    with db.transaction():
        values = node_values(db, node)
    found = node_from_row(db, {**values, "parent_ids": []})
    db.close()
    assert found.artifacts == {"trace": artifact} and found.plan == "p" and "more" not in values["rest"]
