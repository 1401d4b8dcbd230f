"""Reading tables: exact floats, clear refusals."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

import pandas as pd

from .blocks import together

EXACT: dict[str, Any] = {} if int(pd.__version__.split(".")[0]) >= 3 else {"float_precision": "round_trip"}
"""pandas 3 reads floats to the last digit by itself."""


MOST_COLUMNS = 10_000
"""Of a submission."""


class Malformed(Exception):
    """The submission does not have the required form; the text is for the user and for the next prompt."""


class Unusable(Exception):
    """The user's data or folder cannot be used; the text names the key, the value and the remedy, in one line."""

    def __init__(self, text: str) -> None:
        super().__init__("".join(mark if mark.isprintable() else repr(mark)[1:-1] for mark in text))


@contextmanager
def refusals(path: Path) -> Iterator[None]:
    """Whatever goes wrong while a file of the user's is read is told in one line that names it."""
    try:
        yield
    except Unusable:
        raise
    except ImportError as error:
        raise Unusable(f"data: '{path}' needs a package that is not installed ({first_line(error)}); "
                       f"pip install pyarrow openpyxl (the extra [tables]), or save it as CSV") from error  # fmt: skip
    except Exception as error:  # the user's file
        why = (isinstance(error, OSError) and error.strerror) or first_line(error)
        raise Unusable(f"data: '{path}' is not a table that can be read: {why}") from error


def read_table(path: str | Path | IO[str], texts: Collection[str] = ()) -> Any:
    """A CSV (or JSON lines) file of ours as a DataFrame, floats read to the last digit.

    Args:
        texts: columns that are words, though every cell here may look like a number.
    """
    if str(path).endswith(".jsonl"):
        return pd.read_json(path, lines=True)
    return together(pd.read_csv(path, low_memory=False, dtype=dict.fromkeys(texts, "str"), **EXACT))


def read_answers(path: str | Path, texts: Collection[str] = ()) -> Any:
    """What a competition's grader gets: a table, of JSON lines a list of records; of other files the path.

    Args:
        texts: as of `read_table`.
    """
    if str(path).endswith(".jsonl"):
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.strip()]
    return read_table(path, texts) if str(path).endswith(".csv") else Path(path)


def read_submission(path: str | Path, texts: Collection[str] = ()) -> Any:
    """A candidate's file. Untrusted: every fault of it is Malformed.

    Args:
        texts: as of `read_table`.
    """
    try:
        _refuse_wide(path)
        return read_table(path, texts)
    except pd.errors.EmptyDataError:
        raise Malformed("submission.csv is empty") from None
    except UnicodeDecodeError:
        raise Malformed("submission.csv is not UTF-8 text") from None
    except (pd.errors.ParserError, csv.Error, ValueError, MemoryError) as error:
        raise Malformed(f"submission.csv is not a CSV table: {first_line(error)}") from None


def _refuse_wide(path: str | Path) -> None:
    """pandas takes minutes and gigabytes for a million names of columns, and for a row of a million values below one.

    It refuses later rows that are longer than these by itself.
    """
    csv.field_size_limit(sys.maxsize)
    with open(path, encoding="utf-8", newline="") as file:
        rows = (row for row in csv.reader(file) if len(row) > 1 or "".join(row).strip())
        if any(len(row) > MOST_COLUMNS for row in islice(rows, 2)):
            raise Malformed(f"submission.csv has more than {MOST_COLUMNS:,} columns")


def first_line(error: BaseException) -> str:
    """What an error says in one line, its type where it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
