"""The tables of somebody's competition folder under the names and in the form that programs are told: `train.csv`."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from .contents import read_any
from .csv_text import write_csv
from .exact import Unusable

SAMPLE = "sample_submission.csv"
MOST_BYTES = 1 << 26
"""Of a file that is written anew; larger ones, arrays of pictures among them, programs read as they are."""
_OTHER_FORM = re.compile(
    r"(?P<name>train|test)(?P<form>\.csv\.(?:zip|gz|bz2|xz)|\.(?:tsv|json|jsonl|ndjson|parquet)(?:\.(?:zip|gz))?)", re.I
)


def plain_tables(public: Path, sample: Path, out: Path) -> tuple[Path, str]:
    """The public folder, or a copy of it in `out`, with the sample submission and the two tables as `.csv`; and a note
    of what was written anew. The files themselves stay where they are."""
    if sample.suffix == ".csv" and not (public / SAMPLE).exists():
        public = _ours(public, out)
        shutil.copyfile(sample, public / SAMPLE)
    written = []
    for path in sorted(public.iterdir()):
        found = _OTHER_FORM.fullmatch(path.name)
        if found is None or not path.is_file() or path.stat().st_size > MOST_BYTES:
            continue
        target = f"{found['name'].lower()}.csv"
        if (public / target).exists():
            continue
        try:
            table, _ = read_any(path)
        except Unusable:  # it is no table after all: programs have it as it is
            continue
        public = _ours(public, out)
        write_csv(table, public / target)
        written.append(f"{path.name} as {target}")
    return public, f"{', '.join(written)} too" if written else ""


def _ours(public: Path, out: Path) -> Path:
    return public if public.is_relative_to(out) else Path(shutil.copytree(public, out / "public"))
