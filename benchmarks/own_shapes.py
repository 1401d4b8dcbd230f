"""python -m benchmarks.own_shapes: data of every shape that people bring from home, and whether it is read or why not.

The shapes are those that an outsider found refused, or read wrongly. Each is prepared as a run prepares it.
"""

from __future__ import annotations

import gzip
import importlib.util
import io
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from problems.competition.problem import build
from utils.config import load_config
from utils.errors import ConfigError

DRAW = np.random.default_rng(0)
ROWS = 300
RENTS = pd.DataFrame(
    {
        "flat": [f"F{i}" for i in DRAW.permutation(ROWS)],
        "size": DRAW.uniform(20, 120, ROWS).round(2),
        "straße": DRAW.choice(["Öl", "Au"], ROWS),
        "day": pd.date_range("2021-01-01", periods=ROWS).strftime("%d.%m.%Y"),
        "rent": DRAW.uniform(200, 900, ROWS).round(2),
    }
)
PLAIN = RENTS.to_csv(index=False)
Files = dict[str, bytes]


def picture() -> bytes:
    """Eight by eight points."""
    file = io.BytesIO()
    Image.new("RGB", (8, 8), (120, 130, 140)).save(file, "PNG")
    return file.getvalue()


def text(encoding: str = "utf-8", sep: str = ",", decimal: str = ".") -> bytes:
    """The table as CSV, written so."""
    return RENTS.to_csv(index=False, sep=sep, decimal=decimal).encode(encoding)


def zipped(name: str) -> bytes:
    box = io.BytesIO()
    with zipfile.ZipFile(box, "w") as archive:
        archive.writestr(name, PLAIN)
    return box.getvalue()


def excel() -> bytes:
    box = io.BytesIO()
    RENTS.to_excel(box, index=False)
    return box.getvalue()


def database() -> bytes:
    with closing(sqlite3.connect(":memory:")) as base:
        RENTS.to_sql("rents", base, index=False)
        return base.serialize()


SHAPES: dict[str, tuple[Callable[[], Files], tuple[str, ...]]] = {
    "; between columns, decimal commas": (lambda: {"train.csv": text(sep=";", decimal=",")}, ()),
    "tabs": (lambda: {"train.tsv": text(sep="\t")}, ()),
    "Latin-1": (lambda: {"train.csv": text(encoding="latin-1")}, ()),
    "UTF-16": (lambda: {"train.csv": text(encoding="utf-16")}, ()),
    "train.csv.zip": (lambda: {"train.csv.zip": zipped("train.csv")}, ()),
    "train.csv.gz": (lambda: {"train.csv.gz": gzip.compress(PLAIN.encode())}, ()),
    **({"Excel": (lambda: {"train.xlsx": excel()}, ())} if importlib.util.find_spec("openpyxl") else {}),
    "one CSV of another name": (lambda: {"BTC-USD.csv": PLAIN.encode()}, ()),
    "labels in a second table": (
        lambda: {
            "train.csv": RENTS.drop(columns="rent").to_csv(index=False).encode(),
            "labels.csv": RENTS[["flat", "rent"]].sample(frac=1, random_state=0).to_csv(index=False).encode(),
        },
        (),
    ),
    "two targets": (lambda: {"train.csv": PLAIN.encode()}, ("data.target=rent,size",)),
    "day first, split by time": (lambda: {"train.csv": PLAIN.encode()}, ("data.split=time:day",)),
    "pictures beside the table": (
        lambda: {"train.csv": PLAIN.encode(), **{f"pics/{name}.png": picture() for name in RENTS["flat"]}},
        (),
    ),
    "tables of streets and of days beside the table": (
        lambda: {
            "train.csv": PLAIN.encode(),
            "streets.csv": "Straße;trees\nÖl;12\nAu;3\n".encode("latin-1"),
            "visits.csv": RENTS.assign(day=pd.date_range("2021-01-01", periods=ROWS), seen=DRAW.poisson(3, ROWS))
                .loc[DRAW.integers(0, ROWS, 2 * ROWS), ["day", "seen"]].to_csv(index=False).encode(),
        }, (),
    ),
    "BOM, missing targets": (
        lambda: {"train.csv": b"\xef\xbb\xbf" + PLAIN.replace("1\n", "1\nF,1,Au,1.1.2020,\n").encode()}, (),
    ),
    "a column with blanks and brackets, one twice": (
        lambda: {"train.csv": PLAIN.replace("size,straße", "size (m 2),size (m 2)", 1).encode()}, (),
    ),
    "months": (
        lambda: {"train.csv": RENTS.assign(day=pd.date_range("1999", periods=ROWS, freq="MS").strftime("%m/%Y"))
                 .to_csv(index=False).encode()}, ("data.split=time:day",),
    ),
    "rows below a key of a JSON object": (
        lambda: {"rents.json": f'{{"count": {ROWS}, "rents": {RENTS.to_json(orient="records")}}}'.encode()}, (),
    ),
    "a database": (lambda: {"rents.db": database()}, ()),
    "title lines above the head": (lambda: {"train.csv": f"Rents,,,,\n,,,,\n{PLAIN}".encode()}, ()),
    "amounts with units": (
        lambda: {"train.csv": PLAIN.replace("\n", " EUR\n").replace("rent EUR", "rent").encode()}, (),
    ),
}  # fmt: skip


def told() -> Iterator[str]:
    """A row of the table for each shape."""
    for shape, (files, words) in SHAPES.items():
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "mine"
            for name, content in files().items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(content)
            target = () if any(word.startswith("data.target") for word in words) else ("data.target=rent",)
            try:
                problem = build(
                    load_config(None, [f"data.dir={folder}", "data.metric=mae", *target, *words]), Path(place)
                )
                problem.prepare()
                yield f"| {shape} | read | {problem.note.replace(place, '…')} |"
            except ConfigError as error:
                yield f"| {shape} | refused | {str(error).replace(place, '…')} |"


def main() -> None:
    print("| shape | | what is told |\n|---|---|---|")
    for line in told():
        print(line, flush=True)


if __name__ == "__main__":
    main()
