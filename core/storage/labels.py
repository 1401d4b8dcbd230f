"""Labels of a run: title, note, tags and whether it is put away. The user's own words, in a file beside the store.

They are no part of the chained journal: they may change at any time, by anybody who may write into the run's folder.
"""

from __future__ import annotations

import fcntl
import os
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from utils.clean_text import one_line
from utils.errors import ConfigError, StoreError, unwritable
from utils.file_utils import write_atomic
from utils.regular_files import DOCUMENT, read_regular

FILE = "labels.json"
MAX_TITLE = 120
MAX_NOTE = 4000
MAX_TAG = 40
_MARKS = "._-/:"


class Labels(BaseModel):
    """What the user wrote on a run."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    title: str = Field("", max_length=MAX_TITLE)
    """Shown in place of the run's id; the id stays."""
    note: str = Field("", max_length=MAX_NOTE)
    tags: tuple[str, ...] = ()
    """In the order of the alphabet."""
    archived: bool = False
    """Put away: lists leave it out unless they are asked for it."""

    @field_validator("tags")
    @classmethod
    def _sorted_tags(cls, tags: Iterable[str]) -> tuple[str, ...]:
        tags = [same_text(tag) for tag in tags]
        for tag in tags:
            if not _is_tag(tag):
                raise ValueError(
                    f"tag '{one_line(tag, 60)}': letters, digits and . _ - / : are allowed, {MAX_TAG} at most"
                )
        return tuple(sorted(set(tags)))


def same_text(tag: str) -> str:
    """One spelling of what looks the same: `ö` may be typed as one letter or as two."""
    return unicodedata.normalize("NFC", tag)


def _is_tag(tag: str) -> bool:
    """A letter or a digit of any script, then these, the marks that belong to letters, and some signs."""
    kinds = [unicodedata.category(letter)[0] for letter in tag]
    if not kinds or len(tag) > MAX_TAG or kinds[0] not in "LN":
        return False
    return all(kind in "LMN" or letter in _MARKS for kind, letter in zip(kinds, tag, strict=True))


def labels_of(run_dir: Path) -> Labels:
    """What stands on the run; nothing where there is no file, or none of ours."""
    try:
        return Labels.model_validate_json(read_regular(run_dir / FILE, DOCUMENT))
    except (OSError, ValueError):
        return Labels()


def change_labels(
    run_dir: Path,
    *,
    title: str | None = None,
    note: str | None = None,
    add: Iterable[str] = (),
    remove: Iterable[str] = (),
    archived: bool | None = None,
) -> Labels:
    """Change what is given, keep the rest; returns what stands on the run now.

    Raises:
        ConfigError: a word that is no tag, a text that is too long. StoreError: it cannot be written, or what stands
            there cannot be read, and would be lost.
    """
    with _alone(run_dir):
        known = _known(run_dir)
        wanted = {
            "title": known.title if title is None else one_line(title, MAX_TITLE + 1),
            "note": known.note if note is None else note.strip(),
            "tags": (set(known.tags) | set(add)) - {same_text(tag) for tag in remove},
            "archived": known.archived if archived is None else archived,
        }
        try:
            labels = Labels.model_validate(wanted)
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            place = "" if fault["loc"] == ("tags",) else f"{'.'.join(map(str, fault['loc']))}: "
            raise ConfigError(f"{place}{fault['msg'].removeprefix('Value error, ')}") from error
        try:
            write_atomic(run_dir / FILE, labels.model_dump_json() + "\n")
        except OSError as error:
            raise unwritable(f"run '{run_dir.name}': its labels cannot be written", error) from error
        return labels


@contextmanager
def _alone(run_dir: Path) -> Iterator[None]:
    """Inside, no other process changes labels of the run, where the disk knows of locks."""
    with ExitStack() as open_:
        with suppress(OSError):
            folder = os.open(run_dir, os.O_RDONLY | os.O_DIRECTORY)
            open_.callback(os.close, folder)
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield


def _known(run_dir: Path) -> Labels:
    """As `labels_of`, where there is no doubt of it."""
    try:
        return Labels.model_validate_json(read_regular(run_dir / FILE, DOCUMENT))
    except FileNotFoundError:
        return Labels()
    except (OSError, ValueError) as error:
        what = "is not as this version writes it" if isinstance(error, ValueError) else "cannot be read"
        raise StoreError(
            f"run '{run_dir.name}': {FILE} {what}; mend it or put it aside, and nothing is lost"
        ) from error
