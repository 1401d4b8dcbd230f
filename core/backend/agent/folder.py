"""What an agent finds in its folder, and what of it comes back when its session is over."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from core.backend.agent.last_words import PLAN
from core.backend.agent.own_tools import entries
from core.backend.agent.task_page import TASK, task_page
from core.backend.exchange import Request
from core.contracts import FORM, WriterDesk
from utils.folder_entries import is_there
from utils.globs import matches
from utils.regular_files import read_regular, regular_files
from utils.response import NOTHING_LEFT

MOST_FILES = 2000
LARGEST = 1_000_000
"""Bytes of one file that comes back."""

_HOW = """\
do not print the program, change these files: {editable}. What lies in them when you end is taken, as it is. Regular
files only, of at most 1 MB. You work in this folder{nowhere_else}. Other files are yours to use and are thrown away.

- `evidence/` holds the parents' programs, outputs and scores.
{tools}
Try what you write before you end. End your last message with one line `{plan} what you tried, in one or two sentences`:
it is all of your words that later writers read. Only if no program can score better than the best so far, because it is
provably as good as can be: change nothing, and end with one line `{nothing} why` in its place.
"""
_NOWHERE_ELSE = " and nowhere else: there is no network but your own model"
_TOOLS = """\
- `./check` looks at the files as they lie: do they parse, keep the rules, differ from all before? It tells no score and
  answers 5 times. The tool `check` of the MCP server `swarm-evo` is the same.
- `./give-up "why"` ends the session without a program.
"""

_SCRIPT = """#!/bin/sh
exec {python} -I - "$@" <<'END'
import json, os, sys, urllib.request
body = json.dumps({{"reason": " ".join(sys.argv[1:])}}).encode()
request = urllib.request.Request(os.environ["SWARM_EVO_URL"] + "/{path}", body, method="POST")
request.add_header("authorization", "Bearer " + os.environ["SWARM_EVO_TOKEN"])
print(json.dumps(json.load(urllib.request.urlopen(request, timeout=60)), indent=2))
END
"""
"""Not with the interpreter in its first line: what a kernel reads there ends at a blank, and soon."""


@dataclass(frozen=True, slots=True)
class Handed:
    """What was laid out."""

    folder: Path
    code: str
    """The program that is to be changed; '' without a parent."""
    files: Mapping[str, str]
    editable: tuple[str, ...]
    ours: frozenset[str]
    """What lies there and is no part of a program, whatever may be changed."""


def lay_out(folder: Path, request: Request, desk: WriterDesk | None, *, url: str, token: str) -> Handed:
    """Fill a fresh folder with the task, the files to change, the evidence, two small scripts and clients' settings.

    Args:
        url: of the gateway; '' where there is none to ask.
        token: of this session, at the gateway.
    """
    code, files, editable, texts = _material(request, desk)
    if desk is not None:
        form = str((request.context or {}).get(FORM, ""))
        texts[TASK] = task_page(request.system, request.user, form, _how(editable, by_gateway=bool(url)))
    texts |= entries(url, token)
    scripts = {"check": "check", "give-up": "give_up"} if desk and url else {}
    for name, path in scripts.items():
        _write(folder, name, _SCRIPT.format(python=shlex.quote(sys.executable), path=path)).chmod(0o755)
    for name, text in {**texts, **files}.items():
        _write(folder, name, text)
    return Handed(folder, code, files, tuple(editable), frozenset({*texts, *scripts} - files.keys()))


def lay_out_task(folder: Path, request: Request, desk: WriterDesk | None) -> None:
    """Fill a fresh folder for who prints a reply: the task as it is asked, the files to change, the evidence.

    A link to a file of the user's that lies there under such a name stays, and is not written through.
    """
    _, files, _, texts = _material(request, desk)
    for name, text in {**texts, **files}.items():
        pure = PurePosixPath(name)
        if not any((folder / part).is_symlink() for part in (pure, *pure.parents)):
            _write(folder, name, text)


def _material(request: Request, desk: WriterDesk | None) -> tuple[str, dict[str, str], list[str], dict[str, str]]:
    """(the program to change, its files, which of them may change, name → text of the task and the evidence)."""
    parents = [one for one in (request.context or {}).get("parents") or () if isinstance(one, Mapping)]
    code = str(parents[0].get("code", "")) if parents else ""
    files, editable = desk.hand_out(code) if desk else ({}, [])
    texts = {TASK: f"{request.system}\n\n{request.user}\n".lstrip()}
    for number, parent in enumerate(parents, 1):
        texts |= _evidence(f"evidence/parent-{number}", parent)
    return code, files, editable, texts


def _how(editable: Sequence[str], *, by_gateway: bool) -> str:
    """How to hand in. Without a gateway there is nobody to ask, and nothing closes the network."""
    more = {"nowhere_else": _NOWHERE_ELSE, "tools": _TOOLS} if by_gateway else {"nowhere_else": "", "tools": ""}
    return _HOW.format(editable=", ".join(editable), plan=PLAN, nothing=NOTHING_LEFT, **more)


def _evidence(place: str, parent: Mapping[str, Any]) -> dict[str, str]:
    about = {name: parent.get(name) for name in ("id", "metric", "failure", "message", "plan", "analysis")}
    return {
        f"{place}/program.txt": str(parent.get("code", "")),
        f"{place}/output.txt": str(parent.get("term_out", "")),
        f"{place}/about.json": json.dumps(about, indent=2, default=str) + "\n",
    }


def left_behind(handed: Handed) -> tuple[dict[str, str | None], str]:
    """(path → new text of what was changed, None for what was deleted; why nothing can be taken, or '').

    The agent may be at work in there meanwhile.
    """
    found: dict[str, str] = {}
    for file in regular_files(handed.folder):
        name = file.path
        if name in handed.ours or not matches(name, handed.editable):
            continue
        if len(found) >= MOST_FILES:
            return {}, f"it left more than {MOST_FILES} files where it may change some"
        try:
            found[name] = read_regular(file.name, LARGEST, file.parent)
        except (OSError, ValueError) as error:
            return {}, f"{name} cannot be taken: {error}"
    gone = {name: None for name in handed.files if name not in found and matches(name, handed.editable)}
    for name in gone:
        if is_there(handed.folder, name):
            return {}, f"{name} is no regular file"
    changed = {name: text for name, text in found.items() if handed.files.get(name) != text}
    if len(handed.editable) == 1 and list(handed.editable) == list(handed.files):  # a program is this one file
        (program,) = handed.editable
        if program in gone or not changed.get(program, "x").strip():
            return {}, f"{program} is {'gone' if program in gone else 'empty'}"
    return {**changed, **gone}, ""


def _write(folder: Path, name: str, text: str) -> Path:
    """Names are ours or a problem's: none leads out of the folder."""
    pure = PurePosixPath(name)
    assert not pure.is_absolute() and ".." not in pure.parts
    path = folder / pure
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="replace")
    return path
