"""`export`: every candidate of a run as one row, for tables and data frames."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from cli.options import add_run_argument, project_dir_of
from core.storage.reader import RunReader
from core.storage.unreadable import unreadable
from reports.candidates import candidate_rows, candidates_csv, json_lines
from runs.run_folder import find_run
from utils.clean_text import whole
from utils.errors import ConfigError
from utils.extras import install_line
from utils.file_utils import in_place_of
from utils.user_places import check_file_place, make_folder_of, writes

FORMATS = ("csv", "json", "parquet")
_LARGEST = 2**63


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("export", help="every candidate as a row: CSV, JSON or Parquet")
    add_run_argument(parser)
    parser.add_argument("--format", choices=FORMATS, default="csv")
    parser.add_argument("--out", metavar="FILE", help="where to; standard output if absent (Parquet: RUN.parquet)")
    parser.add_argument("--code", action="store_true", help="with the programs' texts")


def run(args: argparse.Namespace) -> int:
    run_dir = find_run(project_dir_of(args), args.run)
    if args.out:
        check_file_place("out", Path(args.out))
    with unreadable(run_dir.name), RunReader(run_dir) as reader:
        rows = candidate_rows(reader, code=args.code)
    out = Path(args.out) if args.out else None
    if out is not None:
        make_folder_of("out", out)
    if args.format == "parquet":
        out = out or Path(f"{run_dir.name}.parquet")
        with writes("out", out), in_place_of(out) as new:
            _write_parquet(rows, new)
    else:
        text = candidates_csv(rows) if args.format == "csv" else "\n".join(json_lines(rows)) + "\n"
        if out is None:
            print(text, end="")
            return 0
        with writes("out", out), in_place_of(out) as new:
            new.write_text(text, encoding="utf-8")
    print(out)
    return 0


def _write_parquet(rows: list[dict[str, Any]], out: Path) -> None:
    import pandas as pd

    columns = {name: _of_one_kind([row[name] for row in rows]) for name in (rows[0] if rows else ())}
    try:
        table = pd.DataFrame(columns)
        table.astype({"step": "Int64"} if rows else {}).to_parquet(out, index=False)  # null for what is no step
    except ImportError as error:
        raise ConfigError(f"--format parquet needs pyarrow: {install_line('tables')}") from error


def _of_one_kind(values: list[Any]) -> list[Any]:
    """A column that Parquet has a type for: as it is, else (a number here and a text there, a whole number beyond 64
    bits) all of it as texts, with the words for what is no finite number among numbers as such."""
    words = {"nan", "inf", "-inf"}
    told = {value for value in values if isinstance(value, str)}
    kinds = {float if type(value) is int else type(value) for value in values if value is not None}
    if float in kinds and told <= words:
        values, kinds = [float(value) if isinstance(value, str) else value for value in values], kinds - {str}
    large = any(type(value) is int and not -_LARGEST <= value < _LARGEST for value in values)
    if len(kinds) > 1 or large:
        values = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
    return [whole(value) if isinstance(value, str) else value for value in values]
