"""What a program of `rules` sees of a picture."""

import os
from dataclasses import replace
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest

from problems.competition.rules.row_files import LOOKS, RowFiles, lines, row_files

Image = pytest.importorskip("PIL.Image")
NAMED = {"kind": "images", "column": "id", "folder": "pics/", "ending": ".png", "digits": 0, "bytes": 2000}


@pytest.fixture(scope="module")
def functions():
    """Those of the script itself."""
    files = RowFiles({"file": ("{}",)}, {"file_text": ("file", ("{}",))})
    code = "\n".join(lines(files, "train.csv", "test.csv", ()))
    names = {"np": np, "os": os, "Image": Image, "ZipFile": ZipFile}
    exec(code.partition("with_files = []")[0], names)
    return names


@pytest.fixture(scope="module")
def seen(functions):
    return functions["seen"]


@pytest.mark.parametrize("mode", ["L", "1", "P", "RGBA", "LA", "CMYK", "I;16", "F"])
def test_a_slope_is_a_slope_whatever_the_kind_of_picture(tmp_path, seen, mode):
    deep = mode in ("I;16", "F")
    slope = np.tile(np.linspace(0, 60_000 if mode == "I;16" else 255, 40), (30, 1))
    image = Image.fromarray(slope.astype({"I;16": np.uint16, "F": np.float32}.get(mode, np.uint8)))
    file = tmp_path / ("one.tif" if deep or mode == "CMYK" else "one.png")
    (image if deep else image.convert(mode)).save(file)
    (found,) = seen(pd.Series([str(file)]), ("{}",))
    assert np.isfinite(found).all() and len(found) == LOOKS and tuple(found[-2:]) == (40, 30)
    grid = found[:192].reshape(8, 8, 3).mean(axis=(0, 2))
    assert (np.diff(grid) >= 0).all() and grid[-1] - grid[0] > 0.5
    assert np.isclose(found[: 8 * 3].mean(), found[168:192].mean(), atol=0.05)  # first and last row of the grid


def test_files_that_are_none_are_missing_values(tmp_path, seen):
    (tmp_path / "torn.png").write_bytes(b"\x89PNG\r\n\x1a\nno more")
    named = pd.Series([str(tmp_path / "torn.png"), str(tmp_path / "gone.png"), None])
    assert np.isnan(seen(named, ("{}",))).all()


def test_a_file_may_lie_in_a_zip(tmp_path, seen):
    Image.new("L", (8, 6), 128).save(tmp_path / "1.png")
    with ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.write(tmp_path / "1.png", "train/1.png")
    (tmp_path / "folder.zip").mkdir()
    places = (f"{tmp_path}/none/{{}}.png", f"{tmp_path}/folder.zip/{{}}.png", f"{tmp_path}/all.zip/train/{{}}.png")
    found = seen(pd.Series([1, 2]), places)
    assert found[0, 0] == pytest.approx(128 / 255) and np.isnan(found[1]).all()


def test_what_cannot_be_read_is_missing_and_stops_no_program(tmp_path, seen, functions):
    """Zips under a password are usual in competitions; a cell may name any zip, and one of no zip."""
    with ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("locked.txt", "sun")
        archive.writestr("torn.txt", "moon")
        archive.writestr("good.txt", "day")
    packed = bytearray((tmp_path / "all.zip").read_bytes())
    for mark, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        packed[packed.index(mark) + flags] |= 1
    packed[packed.index(b"moon")] ^= 1
    (tmp_path / "all.zip").write_bytes(packed)
    (tmp_path / "none.zip").write_text("no zip")
    cells = ["all.zip/good.txt", "all.zip/locked.txt", "all.zip/torn.txt", "none.zip/a.txt", "gone.txt", "a\0b", None]
    named, places = pd.Series(cells), (f"{tmp_path}/{{}}",)
    assert functions["written"](named, places) == ["day", *[""] * 6]
    assert np.isnan(seen(named, places)).all()


def test_a_picture_that_would_take_much_of_the_memory_is_missing(tmp_path):
    """Of 179 million pixels, say; a JPEG is unpacked no further than is needed."""
    for ending in ("png", "jpg"):
        Image.new("RGB", (3000, 2000), "red").save(tmp_path / f"large.{ending}")
    Image.new("RGB", (30, 20), "red").save(tmp_path / "small.png")
    files = replace(RowFiles({"file": ("{}",)}), room=row_files(data(), 4, 100, 128).room)
    names = {"np": np, "os": os, "Image": Image, "ZipFile": ZipFile}
    exec("\n".join(lines(files, "train.csv", "test.csv", ())).partition("with_files = []")[0], names)
    shown = names["seen"](pd.Series(["small.png", "large.jpg", "large.png"]), (f"{tmp_path}/{{}}",))
    assert np.isnan(shown).all(1).tolist() == [False, False, True]


def data(**limits):
    return {"named_files": [NAMED], "columns": [], "rows": {"train": 9000, "test": 1000}, **limits}


def test_pictures_that_there_is_no_time_for_are_left_out():
    known = data()
    assert row_files(known, 4, 100, 4096).pictures == {"id": ("input/pics/{}.png",)}
    assert row_files(known, 4, 100, 4096).most > 9000
    large = data(named_files=[{**NAMED, "bytes": 200_000}])
    assert 500 < row_files(large, 4, 100, 4096).most < 9000, "a part of the rows"
    assert not row_files(large, 4, 5, 4096).pictures


def test_a_folder_for_each_table_is_a_place_each():
    known = data(named_files=[{**NAMED, "folder": "train/"}, {**NAMED, "folder": "te{st/", "digits": 5}])
    (places,) = row_files(known, 4, 100, 4096).pictures.values()
    assert [place.format("7") for place in places] == ["input/train/7.png", "input/te{st/00007.png"]
