"""What of a user's folder goes along: told by what a file holds, never by what it is called."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import pickle
import sqlite3
import time
import zipfile

import numpy as np
import pandas as pd
import pytest

from problems.competition.grader.leaks.belongings import copy_bytes, copy_rest, may_tell
from problems.competition.grader.leaks.hidden_labels import HiddenLabels

ROWS = 300
DRAW = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "id": range(1, ROWS + 1),
        "area": DRAW.uniform(20, 150, ROWS).round(1),
        "rooms": DRAW.integers(1, 6, ROWS),
        "price": DRAW.uniform(1e4, 1e6, ROWS).round(2),
        "left": DRAW.choice(["yes", "no"], ROWS),
    }
)
HIDDEN = np.isin(np.arange(ROWS), DRAW.permutation(ROWS)[:90])


def table(target: str) -> pd.DataFrame:
    """The training table of that target, whose column is called otherwise."""
    return TABLE[["id", "area", "rooms", target]].rename(columns={target: "other"})


def of(target: str) -> HiddenLabels:
    return HiddenLabels.of(TABLE[["id", "area", "rooms", target]], HIDDEN, [target])


def database(rows: pd.DataFrame, path) -> bytes:
    with sqlite3.connect(path) as base:
        rows.to_sql("t", base)
    base.close()
    return path.read_bytes()


def array(values) -> bytes:
    box = io.BytesIO()
    np.save(box, values)
    return box.getvalue()


def codes(labels):
    return labels if labels.dtype == float else pd.factorize(labels)[0]


def zipped(name: str, content: bytes) -> bytes:
    box = io.BytesIO()
    with zipfile.ZipFile(box, "w") as archive:
        archive.writestr(name, content)
    return box.getvalue()


def tells(path, labels):
    with open(path, "rb", buffering=0) as file:
        return may_tell(file, labels)


FORMS = {
    "a table under another name": lambda rows, _: rows.to_csv(index=False),
    "without a head": lambda rows, _: rows.to_csv(index=False, header=False),
    "below a line of words": lambda rows, _: "Export of flats\n\n" + rows.to_csv(index=False),
    "rows as columns": lambda rows, _: rows.T.to_csv(),
    "shuffled, without ids": lambda rows, _: rows.drop(columns="id").sample(frac=1, random_state=1).to_csv(index=False),
    "labels alone, in their order": lambda rows, _: "\n".join(map(str, rows["other"])),
    "decimal commas": lambda rows, _: rows.to_csv(index=False, sep=";", decimal=","),
    "UTF-16": lambda rows, _: rows.to_csv(index=False).encode("utf-16"),
    "UTF-16 without a mark": lambda rows, _: rows.to_csv(index=False).encode("utf-16-le"),
    "HTML": lambda rows, _: rows.to_html(),
    "JSON records": lambda rows, _: rows.to_json(orient="records", indent=1),
    "JSON columns": lambda rows, _: rows.to_json(),
    "JSON lines": lambda rows, _: rows.to_json(orient="records", lines=True),
    "a notebook": lambda rows, _: json.dumps([{"source": rows.to_csv(index=False).splitlines(True)}], indent=1),
    "SQL": lambda rows, _: "\n".join(f"INSERT INTO t VALUES {tuple(row)};" for row in rows.astype(str).values),
    "gzip": lambda rows, _: gzip.compress(rows.to_csv(index=False).encode()),
    "zip in gzip": lambda rows, _: gzip.compress(zipped("x", rows.to_csv(index=False).encode())),
    "an array": lambda rows, _: array(codes(rows["other"])),
    "an array in a zip": lambda rows, _: zipped("y.npy", array(codes(rows["other"]))),
    "SQLite": lambda rows, path: database(rows, path),
    "pickle": lambda rows, _: pickle.dumps(rows),
    "unknown": lambda _, __: b"\x01\x02\x00\x03" * 50,
}  # fmt: skip


@pytest.mark.parametrize("target", ["price", "left"])
@pytest.mark.parametrize("form", FORMS)
def test_labels_are_recognised_in_every_form_and_without_their_name(tmp_path, form, target):
    content = FORMS[form](table(target), tmp_path / "base")
    (tmp_path / "foo").write_bytes(content.encode() if isinstance(content, str) else content)
    assert tells(tmp_path / "foo", of(target))


def numbers(width: int) -> str:
    draw = np.random.default_rng(2)
    return pd.DataFrame(draw.integers(0, 2, (2000, width))).to_csv(header=False)


INNOCENT = {
    "the other columns": TABLE[["id", "area", "rooms"]].to_csv(index=False),
    "two columns of chance for each id": numbers(2),
    "fifty": numbers(50),
    "a description with an example": "# Task\n\nPredict it:\n\nid,price,left\n1,0,no\n2,0,no\n\nGood luck.\n",
    "a list of columns": "column,meaning\nid,names a flat\nprice,what it costs\nleft,whether it was left\n",
    "the same in Markdown": "| column | meaning |\n|---|---|\n| price | of a flat |\n| left | yes or no |\n",
    "words": "The price is high, and whoever left, left early; yes or no. " * 40,
    "one letter": "x",
    "nothing": "",
    "a picture": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 9,
    "a sound": b"RIFF\x24\0\0\0WAVEfmt " + bytes(range(256)),
    "pictures in a zip": zipped("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\r" + bytes(999)),
    "an array of pixels": array(np.random.default_rng(3).integers(0, 255, (100, 8, 8), dtype=np.uint8)),
    "packed weather": gzip.compress(b"day,rain\n1,0.5\n2,0.25\n"),
}


@pytest.mark.parametrize("target", ["price", "left"])
@pytest.mark.parametrize("what", INNOCENT)
def test_what_tells_no_labels_goes_along(tmp_path, what, target):
    content = INNOCENT[what]
    (tmp_path / "train.csv").write_bytes(content.encode() if isinstance(content, str) else content)
    assert not tells(tmp_path / "train.csv", of(target))


def test_numbers_that_are_found_by_chance_accuse_nobody(tmp_path):
    """A table that holds every number of a range holds every label of that range."""
    rows = TABLE.assign(price=DRAW.integers(1000, 9999, ROWS))
    (tmp_path / "all.csv").write_text("\n".join(map(str, range(1000, 9999))))
    assert not tells(tmp_path / "all.csv", HiddenLabels.of(rows, HIDDEN, ["price"]))


def test_thousands_of_small_files_are_looked_into_quickly(tmp_path):
    (tmp_path / "x.txt").write_text("x")
    labels, begin = of("price"), time.process_time()
    for _ in range(2000):
        assert not tells(tmp_path / "x.txt", labels)
    assert time.process_time() - begin < 2000 * 0.0005, "0.05 ms each where nothing else runs"


def test_many_files_beside_many_hidden_rows_are_looked_into_quickly(tmp_path):
    count = 20_000
    rows = pd.DataFrame({"id": [f"P{i}" for i in DRAW.permutation(count)], "kind": DRAW.choice(["u", "v"], count)})
    labels = HiddenLabels.of(rows, DRAW.random(count) < 0.3, ["kind"])
    (tmp_path / "mine").mkdir()
    for name in rows["id"][:1000]:
        (tmp_path / "mine" / f"{name}.txt").write_text(f"Some words about it, no more: {name}")
    begin = time.process_time()
    assert copy_rest(tmp_path / "mine", tmp_path / "public", lambda: labels, set()).notes() == []
    assert time.process_time() - begin < 1000 * 0.004, "0.6 ms each where nothing else runs"


def folder(tmp_path):
    made = tmp_path / "mine"
    (made / "sub").mkdir(parents=True)
    (made / "sub" / "a.txt").write_text("inside")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "shadow.txt").write_text("of the host")
    return made


def shown(public) -> list[str]:
    return sorted(os.path.join(os.path.relpath(at, public), name) for at, _, names in os.walk(public) for name in names)


def test_links_that_lead_out_are_left_out_and_told(tmp_path):
    mine, public = folder(tmp_path), tmp_path / "public"
    for name, target in {
        "etc": tmp_path / "secret", "pw.txt": tmp_path / "secret" / "shadow.txt", "loop": ".", "up": "..",
        "itself": "itself", "nowhere": "/no/such", "near": "sub", "b.txt": "sub/a.txt", "sub/back": "..",
    }.items():  # fmt: skip
        (mine / name).symlink_to(target)
    os.mkfifo(mine / "pipe")
    left = copy_rest(mine, public, None, set())
    assert shown(public) == ["./b.txt", "near/a.txt", "sub/a.txt"]
    assert not any(path.is_symlink() for path in public.rglob("*"))
    assert sorted(left.links) == ["etc", "itself", "loop", "near/back", "nowhere", "pw.txt", "sub/back", "up"]
    assert "in a circle or nowhere: etc, " in left.notes()[0] and left.notes()[0].endswith(" and 3 more")
    assert left.notes()[1] == "left out, since it is no plain file: pipe"


def test_links_to_what_is_kept_back_stay_behind_without_a_word(tmp_path):
    mine, public = folder(tmp_path), tmp_path / "public"
    (mine / "logs").mkdir()
    (mine / "logs" / "old.csv").write_text("labels")
    (mine / "a").symlink_to("logs")
    (mine / "b").symlink_to("logs/old.csv")
    assert copy_rest(mine, public, None, {mine / "logs"}).notes() == []
    assert shown(public) == ["sub/a.txt"]


def test_links_into_the_folder_that_lies_beside_are_followed(tmp_path):
    mine, public = folder(tmp_path), tmp_path / "public"
    (mine / "far").symlink_to(tmp_path / "secret")
    copy_rest(mine, public, None, set(), tmp_path / "secret")
    assert shown(public) == ["far/shadow.txt", "sub/a.txt"]


def test_what_was_written_already_is_not_written_over_and_theirs_has_another_name(tmp_path):
    """An event log `train.csv`, where `labels.csv` is the training table."""
    mine, public = folder(tmp_path), tmp_path / "public"
    public.mkdir()
    for place, text in ((mine, "theirs"), (public, "ours")):
        (place / "train.csv").write_text(text)
    (mine / "further_train.csv").write_text("a log of theirs")
    left = copy_rest(mine, public, None, set())
    told = "go along with other names, since those are our tables': train.csv as further2_train.csv"
    assert left.notes()[-1] == told and not left.special
    found = [(public / f"{name}train.csv").read_text() for name in ("", "further_", "further2_")]
    assert found == ["ours", "a log of theirs", "theirs"]


@pytest.mark.parametrize("done", [0, 1, 2])
def test_a_long_file_is_copied_whole_wherever_the_kernel_stops(tmp_path, monkeypatch, done):
    """Between two file systems, or on one that cannot share blocks, it may refuse at once or in the middle."""
    content = bytes(range(256)) * 64
    (tmp_path / "a.bin").write_bytes(content)
    calls, copy = [], os.copy_file_range

    def some(source, target, count, offset):
        calls.append(offset)
        if len(calls) > done:
            raise OSError(errno.EXDEV, "another file system")
        return copy(source, target, 5000, offset)

    monkeypatch.setattr(os, "copy_file_range", some)
    with (tmp_path / "a.bin").open("rb", buffering=0) as source, (tmp_path / "b.bin").open("xb", buffering=0) as target:
        source.seek(100)  # its beginning was looked at
        copy_bytes(source, target)
    assert (tmp_path / "b.bin").read_bytes() == content and len(calls) == done + 1


def test_long_files_are_left_to_the_kernel_and_short_ones_are_written_at_once(tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    for name, size in (("long.csv", 5000), ("short.csv", 100)):
        (tmp_path / "mine" / name).write_text("x\n" * (size // 2))
    copied = []
    monkeypatch.setattr("problems.competition.grader.leaks.belongings.PIECE", 1000)
    copy = os.copy_file_range
    monkeypatch.setattr(os, "copy_file_range", lambda *words: (copied.append(words[3]), copy(*words))[1])
    copy_rest(tmp_path / "mine", tmp_path / "public", None, set())
    assert {path.name: path.stat().st_size for path in (tmp_path / "public").iterdir()} == {
        "long.csv": 5000, "short.csv": 100,
    }  # fmt: skip
    assert copied == [0, 5000], "one file, to its end"
