"""`report`: one HTML file that opens offline, or Markdown for a pull request."""

from __future__ import annotations

import argparse
import json
from contextlib import nullcontext
from pathlib import Path

from cli.options import add_run_argument, project_dir_of
from core.storage.unreadable import unreadable
from runs.run_folder import find_run
from utils.file_utils import in_place_of
from utils.user_places import make_folder_of, writes


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("report", help="write the run's report as one HTML file, or as Markdown")
    add_run_argument(parser)
    parser.add_argument("--out", metavar="FILE", help="where to; logs/RUN/report.html (or .md) if absent")
    parser.add_argument("--format", choices=["html", "md"], default="html", help="md: Markdown for a pull request")
    parser.add_argument("--json", action="store_true", help="the file's place, as JSON")


def run(args: argparse.Namespace) -> int:
    from reports.html import write_report
    from reports.markdown import write_markdown

    write = write_markdown if args.format == "md" else write_report
    run_dir = find_run(project_dir_of(args), args.run)
    out = Path(args.out) if args.out else run_dir / f"report.{args.format}"
    make_folder_of("out", out)
    with unreadable(run_dir.name), writes("out", out), in_place_of(out) if args.out else nullcontext(out) as place:
        write(run_dir, place)
    print(json.dumps({"run": run_dir.name, "file": str(out)}, indent=2) if args.json else out)
    return 0
