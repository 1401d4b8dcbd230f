"""A ticket as a folder: TASK.md, the files to change, and what they belong to; and the way back."""

from __future__ import annotations

import json
import os
import shlex
import stat
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from core.backend.agent.task_page import TASK, task_page
from core.contracts import FORM
from runs.tickets.words import COMMAND_LINE, WORDS
from utils.errors import ConfigError
from utils.folder_entries import Entry, is_there
from utils.globs import matches
from utils.program import program
from utils.regular_files import read_regular, regular_files, write_regular
from utils.user_text import no_utf8

TICKET = ".ticket.json"
"""Which ticket the folder belongs to, which of its files come back, which of these were laid there, and what the others
were when they were."""
USUAL = ("program.*",)
"""What comes back of a folder that somebody filled himself."""
_HOW = """\
{what}: no plan, no fence, nothing around it. Other files in this folder stay here.

- {check} looks at the files as they lie: do they parse, keep the rules, differ from all before? It tells no score
  and answers 5 times.
- {tell} hands them in, once; it says what they scored. A sentence on what they try goes along with it.
{nothing}"""
_NOTHING = """\
- Only if no program can score better than the best so far, because it is provably as good as can be: {nothing_left}
"""
MOST_FILES = 10_000
LARGEST = 4_000_000
"""Bytes of one file."""
MOST_LOOKED_AT = 150_000
"""Files of a folder: one that holds more is none that a ticket fills, but a whole disk."""
_MOST_NAMED = 3


def write_folder(folder: Path, ticket: Mapping[str, Any], run_dir: Path, surface: str) -> None:
    """Lay out what `ask` gave.

    Args:
        run_dir: `logs/<run>` of its run.
        surface: the door by which its reader hands in; see `runs.tickets.words`. Its commands hold in any folder.
    Raises:
        ConfigError: the folder cannot be written, another one stands in it by a link, it is one of the runs', or holds
            files of the user's own where the ticket's would lie. The ticket stays open; the message says how it is laid
            out elsewhere.
    """
    prompt = ticket["prompt"]
    words = WORDS[surface]
    names = {
        "program": program(anywhere=True),
        "project": f"--project.dir={shlex.quote(str(run_dir.resolve().parent.parent))}",
        "run": run_dir.name,
        "ticket": ticket["ticket"],
        "folder": shlex.quote(str(folder.resolve())),
        "place": folder.resolve(),
    }
    check, tell = words.check.format(**names), words.tell.format(**names)
    nothing = "" if "schema" in ticket else _NOTHING.format(nothing_left=words.nothing_left.format(**names))
    how = _HOW.format(what=_what(ticket), check=check, tell=tell, nothing=nothing)
    files = {name: text for name, text in ticket["files"].items() if _is_inside(name)}
    laid = [name for name in files if matches(name, tuple(ticket["editable"]))]
    stays = {name: _hash(text) for name, text in files.items() if name not in laid}
    about = {"ticket": ticket["ticket"], "editable": ticket["editable"], "laid": laid, "stays": stays}
    texts = {
        TASK: task_page(prompt["system"], prompt["user"], str(prompt.get(FORM, "")), how),
        TICKET: json.dumps(about) + "\n",
        **files,
    }
    elsewhere = f"the ticket stays open: {words.again.format(**names)} lays it out in another folder"
    if folder.resolve().is_relative_to(logs := run_dir.resolve().parent):  # `verify` would find another's files in it
        raise ConfigError(f"{folder}: what lies in {logs} is the runs' own; {elsewhere}")
    if own := _own(folder, texts):
        raise ConfigError(f"{folder}: what lies there as {_named(own)} is of no ticket; {elsewhere}")
    try:
        for name, text in texts.items():
            write_regular(folder, name, text)
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written ({error.strerror}); {elsewhere}") from error


def _own(folder: Path, texts: Mapping[str, str]) -> list[str]:
    """Of a folder that no ticket has filled: the files in the way that are somebody's, and hold something else."""
    if is_there(folder, TICKET):
        return []
    return [
        name for name, text in texts.items() if _is_a_file(folder / name) and _hash_of(folder / name) != _hash(text)
    ]


def _is_a_file(path: Path) -> bool:
    """Neither a link nor one of several names, which give way and lose nothing."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_nlink == 1


def _what(ticket: Mapping[str, Any]) -> str:
    """What is to be written: one file, or whatever matches in a tree."""
    editable = ", ".join(ticket["editable"])
    if "schema" in ticket:
        return f"write the answer into {editable}, one JSON object"
    if all(name in ticket["files"] for name in ticket["editable"]):
        return f"write what is to run into {editable}, as a file is"
    return f"change, add or remove files that match {editable}, each whole"


def read_folder(folder: Path, surface: str = COMMAND_LINE) -> dict[str, str | None]:
    """The files that go back: regular ones that the ticket's `editable` names, by their path in the folder; None for
    one that was laid there and is gone.

    Raises:
        ConfigError: there is no such folder, none of them is there, or one is no text.
    """
    if not folder.is_dir():
        raise ConfigError(f"{folder}: no such folder; fill one with {WORDS[surface].fill.format(file=folder)}")
    patterns, laid, _ = _about(folder)
    found: dict[str, str | None] = {}
    for number, file in enumerate(regular_files(folder)):
        if number >= MOST_LOOKED_AT:
            raise ConfigError(f"{folder}: more than {MOST_LOOKED_AT:,} files lie in it; hand in the folder of a ticket")
        name = file.path
        if name in (TASK, TICKET) or not matches(name, patterns):
            continue
        found[name] = _text(folder, file)
        if len(found) > MOST_FILES:
            raise ConfigError(f"{folder}: more than {MOST_FILES} files match {', '.join(patterns)}")
    if not found:
        raise ConfigError(f"{folder}: there is no {' or '.join(patterns)} in it to hand in")
    return {**found, **{name: None for name in laid if not is_there(folder, name)}}


def left_behind(folder: Path) -> list[str]:
    """A line each on what was laid there and is another now, and on what its writer put beside it, though neither comes
    back; nothing on a folder that no ticket filled."""
    patterns, _, stays = _about(folder)
    if stays is None:
        return []
    changed = [name for name, before in stays.items() if _is_inside(name) and _hash_of(folder / name) != before]
    beside = [
        file.path for file in islice(regular_files(folder), MOST_FILES)
        if file.path not in (TASK, *stays) and not _is_hidden(file.path) and not matches(file.path, patterns)
    ]  # fmt: skip
    told = {"changed in your folder, but locked": changed, "new in your folder, but not among its files": beside}
    return [
        f"{what}, so it does not come back: {_named(names)}; what does is {', '.join(patterns)}"
        for what, names in told.items() if names
    ]  # fmt: skip


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{', '.join(names[:_MOST_NAMED])}{more}"


def _about(folder: Path) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, str] | None]:
    """(patterns of what comes back, which of these files were laid there, name → hash of the others that were); the
    usual patterns of a folder of one's own, of which the last is not known."""
    try:
        about = json.loads(read_regular(folder / TICKET, LARGEST))
        stays = about.get("stays")
        stays = None if stays is None else {str(name): str(before) for name, before in dict(stays).items()}
        return tuple(map(str, about["editable"])), tuple(map(str, about.get("laid", ()))), stays
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return USUAL, (), None


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _hash_of(path: Path) -> str | None:
    """None for what is no such file any more."""
    try:
        return _hash(read_regular(path, LARGEST))
    except (OSError, ValueError):
        return None


def _text(folder: Path, file: Entry) -> str:
    try:
        return read_regular(file.name, LARGEST, file.parent)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{folder / file.path}: cannot be read as text: {no_utf8(error)}") from error
    except (OSError, ValueError) as error:
        raise ConfigError(f"{folder / file.path}: cannot be read as text: {error}") from error


def _is_hidden(name: str) -> bool:
    """A tool's own, as `.ticket.json` is ours."""
    return any(part.startswith(".") for part in name.split("/"))


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts
