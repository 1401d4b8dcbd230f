"""`verify`: is this run, or this bundle, as it was written? Nothing is run and nothing is changed."""

from __future__ import annotations

import argparse
import json

from cli.options import project_dir_of
from runs.proof.named import verify_named
from runs.proof.verification import Verification
from utils.clean_text import one_line

MOST_SHOWN = 30


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("verify", help="is a run, or a bundle, as it was written? nothing is run")
    parser.add_argument("run", metavar="RUN|FOLDER", help="run id, `latest`, a run's folder, or a bundle's")
    parser.add_argument("--head", metavar="HASH", help="the journal's head as you know it from elsewhere")
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> int:
    found = verify_named(project_dir_of(args), args.run, args.head)
    if args.json:
        print(json.dumps(found.plain(), indent=2))
    else:
        _print(found)
    return 0 if found.holds else 1


def _print(found: Verification) -> None:
    print(f"{found.verdict}: {found.name}")
    print(found.sentence)
    for one in found.findings[:MOST_SHOWN]:
        print(f"  {one_line(one.where, 200)}: {one_line(one.what, 300)}")
    if len(found.findings) > MOST_SHOWN:
        print(f"  … and {len(found.findings) - MOST_SHOWN} more (--json lists them)")
    for text in found.unchecked:
        print(f"not checked: {one_line(text, 300)}")
    if found.journal_head:
        print(f"journal_head {one_line(found.journal_head, 64)}")
