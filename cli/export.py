"""`export`: every candidate of a run as one row, for tables and data frames."""

from __future__ import annotations

import argparse
from pathlib import Path

from cli.options import add_run_argument, project_dir_of
from core.storage.reader import RunReader
from core.storage.unreadable import unreadable
from reports.candidate_columns import write_parquet
from reports.candidates import candidate_rows, candidates_csv, json_lines
from runs.run_folder import find_run
from utils.file_utils import in_place_of
from utils.user_places import check_file_place, make_folder_of, writes

FORMATS = ("csv", "json", "parquet")


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
            write_parquet(rows, new)
    else:
        text = candidates_csv(rows) if args.format == "csv" else "\n".join(json_lines(rows)) + "\n"
        if out is None:
            print(text, end="")
            return 0
        with writes("out", out), in_place_of(out) as new:
            new.write_text(text, encoding="utf-8")
    print(out)
    return 0
