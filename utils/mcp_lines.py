"""Lines of the Model Context Protocol: how long one may be that a client sends, whose request it is that is none, and
what an answer may hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from math import isfinite
from typing import Any, BinaryIO

from utils.clean_text import whole
from utils.json_cost import TooDear, check_cost

LONGEST_LINE = 34 * 1024 * 1024
"""Bytes: as much as a run reads of one request, and what stands round it."""
MOST_PARSED = 256 * 1024 * 1024
"""Bytes of memory that a line may become."""
_PIECE = 1 << 16
_ENDS = 400
"""Bytes at either end of a line that is no message, in which the id of its request is looked for."""
_ID = rb'"id"\s*:\s*(-?[0-9]{1,15}|"[^"\\]{1,100}")\s*'
_WORD = rb'"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*'
_FIRST = re.compile(rb"\s*\{\s*(?:" + _WORD + rb",\s*)*" + _ID + rb"[,}]")
_LAST = re.compile(rb",\s*" + _ID + rb"(?:,\s*" + _WORD + rb")*\}\s*\Z")


class Unreadable(ValueError):
    """A line that is no message.

    Args:
        number: id of the request that it was meant to be; None where that cannot be told.
    """

    def __init__(self, why: str, number: str | int | None) -> None:
        super().__init__(why)
        self.number = number


def lines_of(stream: BinaryIO) -> Iterator[bytes]:
    """Its lines; of one that is too long no more than shows that, with its end in the place of what stood there."""
    while line := stream.readline(LONGEST_LINE + 1):
        if len(line) <= LONGEST_LINE:
            yield line
            continue
        end = line[-_ENDS:]
        while not end.endswith(b"\n") and (more := stream.readline(_PIECE)):
            end = (end + more)[-_ENDS:]
        yield line[:-_ENDS] + end


def message_of(line: str | bytes) -> Any:
    """What it says. Raises Unreadable."""
    data = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
    if len(data) > LONGEST_LINE:
        raise Unreadable(f"a line of more than {LONGEST_LINE >> 20} MiB: hand in less", _meant(data))
    try:
        check_cost(data, MOST_PARSED)
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        why = str(error) if isinstance(error, TooDear) else "not a line of JSON"
        raise Unreadable(why, _meant(data)) from error


def _meant(data: bytes) -> str | int | None:
    """The id that stands first or last in it, as clients write it: whoever waits for that one is to hear something."""
    found = _FIRST.match(data[:_ENDS]) or _LAST.search(data[-_ENDS:])
    if found is None:
        return None
    return found[1][1:-1].decode("utf-8", "replace") if found[1].startswith(b'"') else int(found[1])


def readable(result: dict[str, Any]) -> dict[str, Any]:
    """`result` as JSON that every reader takes: half characters and numbers that are none break strict ones, who then
    wait for good. Raises what `json` raises for no data."""
    try:
        json.dumps(result, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        result = _plain(result)
    return result


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {whole(str(name)): _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
