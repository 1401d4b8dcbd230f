"""The user's files that decide the scores of a competition: tables and what lies with them, his metric, his grader."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from problems.competition.source import Source
from problems.user_files import folder_files, named_files

MLEBENCH = ("config.yaml", "prepare.py", "grade.py")
"""What prepares and grades a competition folder."""
TABLES = ("train", "test", "sample", "labels")


def scoring_files(source: Source) -> dict[str, Path]:
    """Name → file, see `Problem.scoring_files`. Of a bundled competition none: it comes along with the version."""
    request = source.request
    if request["kind"] == "folder":
        return {} if request["strict"] else _of_folder(Path(request["folder"]), request["prepared"] or request["raw"])
    found = _of_data(request)
    if function := request["function"]:
        metric = Path(function["file"])
        found |= {"data.metric": metric, **_beside(metric)}
    return found


def _of_data(request: dict[str, Any]) -> dict[str, Path]:
    tables = {f"data.{name}": Path(str(request[name])) for name in TABLES if request.get(name)}
    for name, files in request.get("parts", {}).items():
        del tables[f"data.{name}"]
        beside = Path(files[0]).parent
        tables |= {f"data.{name}/{os.path.relpath(file, beside)}": Path(file) for file in files}
    if request.get("alone"):
        return tables
    if request.get("sorted"):  # the tables are ours, made of the user's files
        origin = Path(str(request["origin"]))
        return _data(origin) if origin.is_dir() else {"data.dir": origin}
    skip = [str(name) for name in request["skip"]]
    theirs = set(tables.values())
    return tables | {
        name: path for name, path in _data(Path(str(request["folder"])), skip).items() if path not in theirs
    }


def _of_folder(folder: Path, data: str) -> dict[str, Path]:
    found = {name: folder / name for name in MLEBENCH if (folder / name).is_file()}
    for name in MLEBENCH[1:]:
        found |= _beside(folder / name)
    return found | _data(Path(data))


def _data(folder: Path, skip: list[str] | None = None) -> dict[str, Path]:
    return {f"data/{name}": path for name, path in folder_files(folder, skip or ()).items()}


def _beside(code: Path) -> dict[str, Path]:
    """What a file of code names beside it."""
    try:
        return named_files(code.parent, [code.read_text(encoding="utf-8", errors="replace")], {code})
    except OSError:
        return {}
