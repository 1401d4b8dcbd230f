"""Tags of a run: the user's own words, in a file beside its store. They are no part of the chained journal."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

from utils.errors import ConfigError, StoreError

FILE = "tags.json"
_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:-]{0,39}")


def tags_of(run_dir: Path) -> list[str]:
    """In the order of the alphabet; [] where there are none, or the file is no list of tags."""
    try:
        found = json.loads((run_dir / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    words = found if isinstance(found, list) else []
    return sorted({tag for tag in words if isinstance(tag, str) and _TAG.fullmatch(tag)})


def change_tags(run_dir: Path, add: Iterable[str], remove: Iterable[str]) -> list[str]:
    """Add and remove tags; returns what the run has now.

    Raises:
        ConfigError: a word that is no tag. StoreError: the run's folder cannot be written.
    """
    added = set(add)
    for tag in added:
        if not _TAG.fullmatch(tag):
            raise ConfigError(f"tag '{tag}': letters, digits and . _ - / : are allowed, 40 at most")
    tags = sorted((set(tags_of(run_dir)) | added) - set(remove))
    temporary = run_dir / f".{FILE}.new"
    try:
        temporary.write_text(json.dumps(tags) + "\n", encoding="utf-8")
        os.replace(temporary, run_dir / FILE)
    except OSError as error:
        raise StoreError(f"run '{run_dir.name}': its tags cannot be written: {error.strerror}") from error
    return tags
