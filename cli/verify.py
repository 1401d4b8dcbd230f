"""`replay --verify`: search again with the stored replies. Nothing is asked, and the journal must come out equal."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from cli.composition import Recorded
from cli.resume import stored_config
from cli.session import RunSession
from core.storage.reader import RunReader
from utils.errors import SwarmEvoError


def verify(run_dir: Path, project_dir: str, *, accept_unsandboxed: bool = False) -> int:
    """Exit code 0 if the hashes are equal, 1 with the first difference if not."""
    config = stored_config(run_dir, [], project_dir)
    config.project.name = f"verify-{run_dir.name}"[:60]
    with RunReader(run_dir) as reader:
        stored = reader.journal()
        calls = reader.calls()
    copy: Path | None = None
    try:
        with RunSession(
            config,
            accept_unsandboxed=accept_unsandboxed,
            view="quiet",
            origin={"verifies": run_dir.name},
            recorded=Recorded(calls),
            stop_after=stored.steps,
        ) as session:
            copy = session.run_dir
            session.run()
            again = session.search.journal
    except SwarmEvoError as error:
        print(f"replay differs: {error}", file=sys.stderr)
        return 1
    finally:
        if copy is not None:
            shutil.rmtree(copy, ignore_errors=True)
    if again.sha256 == stored.sha256:
        print(f"equal: {len(stored)} nodes, journal {stored.sha256}, 0 calls of a model")
        return 0
    for old, new in zip(stored, again, strict=False):
        for name in ("id", "operator", "parent_ids", "code", "metric_value", "failure", "signature", "is_valid"):
            if getattr(old, name) != getattr(new, name):
                print(
                    f"replay differs at step {old.step} in {name}: {getattr(old, name)!r} became {getattr(new, name)!r}"
                )
                return 1
    print(f"replay differs: {len(stored)} nodes became {len(again)}")
    return 1
