"""Tables whose encoding the user says (`data.encoding`): copied as UTF-8 before anything looks at them."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Any

from ..tables.exact import Unusable, refusals
from ..tables.formats import LOOK, is_json, is_text, kind_of, opened

TABLES = ("train", "test", "sample", "labels")


def with_originals(request: dict[str, Any]) -> dict[str, Any]:
    """The request with `originals`: all files of the user's that its tables are made of."""
    parts = request.get("parts", {})
    lone = [request[name] for name in TABLES if request.get(name) and name not in parts]
    return {**request, "originals": [*lone, *(file for files in parts.values() for file in files)]}


def recoded(request: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The request with each text table as a copy in `folder` that is UTF-8, where it says an encoding.

    Raises:
        Unusable: a file is not written so.
    """
    if not (encoding := request.get("encoding")):
        return request
    copies: dict[str, str] = {}
    for number, file in enumerate(request["originals"]):
        path, to = Path(file), folder / str(number) / Path(file).name
        with refusals(path):
            kind = kind_of(path)
            if is_text(kind) or is_json(kind):
                to.parent.mkdir(parents=True, exist_ok=True)
                _copy(path, kind.packed, encoding, to)
                copies[file] = str(to)
    tables = {name: copies.get(request[name], request[name]) for name in TABLES if request.get(name)}
    parts = {name: [copies.get(file, file) for file in files] for name, files in request.get("parts", {}).items()}
    return {**request, **tables, "parts": parts}


def _copy(path: Path, packed: str, encoding: str, to: Path) -> None:
    decoder = codecs.getincrementaldecoder(encoding)()
    with opened(path, packed) as file, to.open("w", encoding="utf-8", newline="") as copy:
        try:
            while piece := file.read(LOOK):
                copy.write(decoder.decode(piece))
            copy.write(decoder.decode(b"", final=True))
        except UnicodeDecodeError as error:
            raise Unusable(f"data.encoding={encoding}: '{path}' is not written so: {error.reason}") from error
