"""`verify`: is this run, or this bundle, as it was written? Nothing is run and nothing is changed."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

from cli.options import project_dir_of
from core.storage.reader import RunReader
from runs.proof.verification import Verification, verify_run
from runs.recorded.files import BEST, DETAIL
from runs.run_folder import DB, find_run
from utils.clean_text import one_line
from utils.errors import ConfigError, StoreError, UnknownRunError
from utils.program import command
from utils.regular_files import DOCUMENT, read_regular

MOST_SHOWN = 30


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("verify", help="is a run, or a bundle, as it was written? nothing is run")
    parser.add_argument("run", metavar="RUN|FOLDER", help="run id, `latest`, a run's folder, or a bundle's")
    parser.add_argument("--head", metavar="HASH", help="the journal's head as you know it from elsewhere")
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> int:
    if args.head is not None and not re.fullmatch("[0-9a-f]{64}", args.head):
        raise ConfigError(f"--head={one_line(args.head, 80)}: a head is 64 hex digits, as `show RUN --json` tells it")
    found = _verified(args)
    if args.json:
        print(json.dumps(found.plain(), indent=2))
    else:
        _print(found)
    return 0 if found.holds else 1


def _verified(args: argparse.Namespace) -> Verification:
    folder = Path(args.run)
    if (folder / "bundle.json").is_file():
        from runs.proof.bundle_check import verify_bundle

        return verify_bundle(folder, args.head)
    run_dir = _run_dir(args, folder)
    found = verify_run(run_dir.resolve(), args.head)
    if found.verdict == "tampered" and args.head is not None:
        _refuse_nodes_hash(run_dir, args.head)
    return found


def _run_dir(args: argparse.Namespace, folder: Path) -> Path:
    """The run's folder; that of its winner's files stands for the run, which recorded their hashes."""
    own = folder.resolve()
    for path in (own, own.parent if own.name == BEST else own):
        if (path / DB).is_file():
            return path
    try:
        return find_run(project_dir_of(args), args.run)
    except UnknownRunError:
        if folder.is_dir():
            raise ConfigError(_no_journal(folder, project_dir_of(args))) from None
        raise


def _no_journal(folder: Path, project_dir: str) -> str:
    """What a folder is of which nothing can be verified, and what could be."""
    shown = one_line(str(folder), 200)
    try:
        node = json.loads(read_regular(folder / DETAIL, DOCUMENT))
        name, run = one_line(str(node["id"]), 40), one_line(str(node.get("run", "RUN")), 100)
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return f"{shown}: neither a run's folder (it holds no {DB}) nor a bundle (no bundle.json)"
    bundle = command(project_dir, "export-best", run, "--bundle", "DIR")
    return (
        f"{shown}: a solution that export-best wrote, node {name} of run {run}; it holds no journal, so nothing in it "
        f"can be verified: `{bundle}` writes one with the journal that vouches for it"
    )


def _refuse_nodes_hash(run_dir: Path, head: str) -> None:
    """ConfigError where the other of the two hashes that `show` tells was given."""
    try:
        with RunReader(run_dir) as reader:
            nodes, newest = reader.journal_sha256(), reader.journal_head()
    except StoreError:  # it was changed so that it cannot be read: the findings say it
        return
    if nodes == head:
        raise ConfigError(f"--head={head}: that is the hash of the run's nodes; its journal's head is {newest}")


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
