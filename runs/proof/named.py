"""What a user names to be verified: a run's id, its folder, or a bundle's."""

from __future__ import annotations

import json
import re
from pathlib import Path

from core.storage.reader import RunReader
from runs.proof.verification import Verification, verify_run
from runs.recorded.files import BEST, DETAIL
from runs.run_folder import DB, find_run
from utils.clean_text import one_line
from utils.errors import ConfigError, StoreError, UnknownRunError
from utils.program import command
from utils.regular_files import DOCUMENT, read_regular


def verify_named(project_dir: str, name: str, head: str | None = None) -> Verification:
    """Check a run, or a bundle. Nothing is run and nothing is changed.

    Args:
        name: a run's id, `latest`, a run's folder or that of its winner's files, or a bundle's folder.
        head: the journal's head as it is known from elsewhere.

    Raises:
        ConfigError: there is nothing to verify, or `head` is none. StoreError: as `verify_run`.
    """
    if head is not None and not re.fullmatch("[0-9a-f]{64}", head):
        raise ConfigError(f"--head={one_line(head, 80)}: a head is 64 hex digits, as `show RUN --json` tells it")
    folder = Path(name)
    if (folder / "bundle.json").is_file():
        from runs.proof.bundle_check import verify_bundle

        return verify_bundle(folder, head)
    run_dir = _run_dir(project_dir, name, folder)
    found = verify_run(run_dir.resolve(), head)
    if found.verdict == "tampered" and head is not None:
        _refuse_nodes_hash(run_dir, head)
    return found


def _run_dir(project_dir: str, name: str, folder: Path) -> Path:
    """The run's folder; that of its winner's files stands for the run, which recorded their hashes."""
    own = folder.resolve()
    for path in (own, own.parent if own.name == BEST else own):
        if (path / DB).is_file():
            return path
    try:
        return find_run(project_dir, name)
    except UnknownRunError:
        if folder.is_dir():
            raise ConfigError(_no_journal(folder, project_dir)) from None
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
