"""`report`: one HTML file that opens offline."""

from __future__ import annotations

import argparse
from pathlib import Path

from cli.options import add_run_argument, project_dir_of, writes
from core.storage.unreadable import unreadable
from runs.recorded_files import record_export
from runs.run_folder import find_run


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("report", help="write the run's report as one HTML file")
    add_run_argument(parser)
    parser.add_argument("--out", metavar="FILE", help="where to; logs/RUN/report.html if absent")


def run(args: argparse.Namespace) -> int:
    from reports.html import write_report

    run_dir = find_run(project_dir_of(args), args.run)
    out = Path(args.out) if args.out else run_dir / "report.html"
    with unreadable(run_dir.name), writes("out", out):
        out.parent.mkdir(parents=True, exist_ok=True)
        write_report(run_dir, out)
        if out.parent.resolve() == run_dir.resolve():
            record_export(run_dir)
    print(out)
    return 0
