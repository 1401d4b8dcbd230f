"""The forms in which a store holds texts and the JSON of its rows; the first byte tells which.

| first byte | what follows |
|---|---|
| 0 | the text itself |
| 1 | a difference: the name of another text (12 bytes), and raw deflate with the end of that text as its dictionary |
| 2 | JSON of a row: raw deflate with `JSON_DICTIONARY` |
| 3 | figures apart: the text's length (4 bytes), and raw deflate of it with each digit as 0, and of its digits |
| 4 | a difference with figures apart: name, length, and raw deflate whose dictionary has its figures apart too |
| 120 | zlib |

Lines of a log differ in their figures alone: apart from these they are one line, and the figures by themselves take the
3.3 bits that a digit has. A row that holds text instead of bytes was not packed.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Sequence
from typing import Any

PLAIN, DIFFERENCE, JSON, FIGURES, FIGURES_DIFFERENCE = (bytes([number]) for number in range(5))
DIFFERENCES = (DIFFERENCE, FIGURES_DIFFERENCE)
NAME_BYTES = 12
"""Length of a text's name: BLAKE2b, in a difference as bytes, elsewhere in hex."""
WINDOW = 32_768
"""Bytes to which a difference can refer: deflate reaches no farther."""
_LENGTH = 4
_TO_ZERO = bytes.maketrans(b"123456789", b"000000000")
_NO_DIGITS = bytes(byte for byte in range(256) if byte not in b"0123456789")
_ZEROS = re.compile(b"0+")
_SMALL = 4096
"""Up to here deflate gets along with tables that are sooner made."""
Stored = bytes | str
TextOf = Callable[[str], bytes]
"""Name of a text → the text's bytes."""

JSON_DICTIONARY = (
    b'{"node_id":"","operator":"draft","parent_ids":[],"round":0,"slot":0,"attempt":0,"repairs":0,"generation":null,'
    b'"island":null,"seen":0,"steps_left":null,"seed":0,"task_type":"explore"}{"rule":"given","operator":"crossover",'
    b'"parent_ids":["","merge","generate","refine","tune","build","control","TournamentSelector","softmax","greedy",'
    b'"draw":0.,"pool":,"candidates":[{"id":"","metric":0.,"visits":1,"score":null}],"parents":{"reason":"'
    b'{"node_id": "", "operator": "improve", "parent_ids": [""], "round": 1, "slot": 0, "attempt": 0, "repairs": 0, '
    b'"generation": null, "island": null, "seen": 1, "steps_left": 1, "seed": 1, "task_type": "explore"}'
    b'{"type":"node.stage","node_id":"","stage":"execute","seconds":0.0}'
    b'{"type":"node.proposed","node_id":"","round":0,"slot":0,"operator":"mutate","parent_ids":["",""],"generation":1,'
    b'"island":0}{"type":"node.proposed","node_id":"","round":1,"slot":1,"operator":"improve","parent_ids":[""],'
    b'"generation":null,"island":null}'
    b'{"type":"llm.called","call_id":1,"node_id":"","role":"code","provider":"openai","model":"gpt-5","prompt_tokens":1,'
    b'"completion_tokens":1,"cost_usd":0.0,"seconds":1.0,"tries":1,"cached":true}'
    b'{"type":"llm.called","call_id":1,"node_id":"","role":"code","provider":"rules","model":"rules",'
    b'"prompt_tokens":null,"completion_tokens":null,"cost_usd":null,"seconds":0.00,"tries":1,"cached":false}'
    b'"is_buggy":true,"is_valid":false,"failure":"runtime","message":"the same program as , not run","metric_source":'
    b'"unisolated","prompt_tokens":1,"completion_tokens":1,"cost_usd":0.0,"is_best":true,"best_metric":'
    b'{"type":"node.committed","node_id":"","step":1,"parent_ids":[""],"operator":"improve","generation":null,'
    b'"island":null,"metric":null,"metric_source":null,"claimed_metric":null,"is_buggy":true,"is_valid":true,'
    b'"failure":"timeout","message":"","exec_time":1.0,"writer":"rules","prompt_tokens":null,"completion_tokens":null,'
    b'"cost_usd":null,"is_best":false,"best_metric":0.0,"best_node_id":"","elapsed":1.0}'
    b'{"type":"node.committed","node_id":"","step":1,"parent_ids":[""],"operator":"mutate","generation":1,"island":0,'
    b'"metric":0.,"metric_source":"verified","claimed_metric":null,"is_buggy":false,"is_valid":true,"failure":null,'
    b'"message":"","exec_time":0.0,"writer":"rules","prompt_tokens":null,"completion_tokens":null,"cost_usd":null,'
    b'"is_best":false,"best_metric":0.0,"best_node_id":"","elapsed":'
)
"""What the JSON of rows has in common. Part of the stored form: another one would be another first byte."""


def packed(raw: bytes) -> bytes:
    """A text's bytes alone, by zlib."""
    small = zlib.compress(raw, 6)
    return small if len(small) < len(raw) else PLAIN + raw


def figures_packed(raw: bytes) -> bytes:
    """A text's bytes alone, its figures apart."""
    return FIGURES + len(raw).to_bytes(_LENGTH) + _deflated(figures_apart(raw), b"", zlib.Z_FILTERED)


def difference(raw: bytes, name: str, dictionary: bytes) -> bytes:
    """A text's bytes as what is not in another one, which is stored by that name and no difference itself.

    Args:
        dictionary: `dictionary_of` the other text.
    """
    return DIFFERENCE + bytes.fromhex(name) + _deflated(raw, dictionary)


def figures_difference(raw: bytes, name: str, dictionary: bytes) -> bytes:
    """The same with figures apart; so must be the `dictionary`: `figures_dictionary_of` the other text."""
    small = _deflated(figures_apart(raw), dictionary, zlib.Z_FILTERED)
    return FIGURES_DIFFERENCE + bytes.fromhex(name) + len(raw).to_bytes(_LENGTH) + small


def dictionary_of(other: bytes) -> bytes:
    """What a difference to that text refers to."""
    return other[-WINDOW:]


def figures_dictionary_of(other: bytes) -> bytes:
    """What a difference with figures apart refers to."""
    return figures_apart(other[-WINDOW // 2 :])


def figures_apart(raw: bytes) -> bytes:
    """A text with each digit as 0, and behind it its digits."""
    return raw.translate(_TO_ZERO) + raw.translate(None, _NO_DIGITS)


def _figures_back(apart: bytes, length: int) -> bytes:
    """The text that `figures_apart` took apart."""
    text, digits = apart[:length], apart[length:]
    if text.count(b"0") != len(digits):
        raise ValueError("a packed text with other figures than its own")
    at = 0

    def next_digits(found: re.Match[bytes]) -> bytes:
        nonlocal at
        begin, at = at, at + found.end() - found.start()
        return digits[begin:at]

    return _ZEROS.sub(next_digits, text)


def raw_text(stored: Stored, text_of: TextOf) -> bytes:
    """The bytes of a stored text; `text_of` reads the one that a difference refers to.

    Raises:
        ValueError, zlib.error: it is in none of these forms.
    """
    if isinstance(stored, str):
        return stored.encode("utf-8", "surrogatepass")
    form, rest = stored[:1], stored[1:]
    if form == PLAIN:
        return rest
    if form not in (*DIFFERENCES, FIGURES):
        return zlib.decompress(stored)
    other = b""
    if form in DIFFERENCES:
        name, rest = rest[:NAME_BYTES], rest[NAME_BYTES:]
        if not rest:
            raise ValueError("a difference that is cut off")
        other = text_of(name.hex())
    if form == DIFFERENCE:
        return _inflated(rest, dictionary_of(other))
    length, small = int.from_bytes(rest[:_LENGTH]), rest[_LENGTH:]
    return _figures_back(_inflated(small, figures_dictionary_of(other)), length)


def unpacked(stored: Stored, text_of: TextOf) -> str:
    """The text of a row of `texts`; see `raw_text`."""
    return stored if isinstance(stored, str) else raw_text(stored, text_of).decode("utf-8", "surrogatepass")


def whole_text(stored: Stored) -> bytes:
    """The bytes of a text that differences refer to. ValueError where it is one itself: there would be no end."""
    return raw_text(stored, _refused)


def _refused(name: str) -> bytes:
    raise ValueError(f"a difference to text {name}, where a whole text is expected")


# ------------------------------------------------------------ JSON of rows


def pack_json(text: str) -> bytes:
    """JSON of a row, packed."""
    return JSON + _deflated(text.encode("utf-8", "surrogatepass"), JSON_DICTIONARY)


def json_text(stored: Stored) -> str:
    """The JSON that a column holds, packed or as text."""
    if isinstance(stored, str):
        return stored
    if stored[:1] != JSON:
        raise ValueError("no packed JSON")
    return _inflated(stored[1:], JSON_DICTIONARY).decode("utf-8", "surrogatepass")


def json_of(stored: Stored) -> Any:
    """The value that a column holds as JSON, packed or as text."""
    return json.loads(json_text(stored))


# ------------------------------------------------------------ lists of names


def names_text(names: Sequence[str]) -> bytes:
    """A list of names as a text: one a line."""
    return "\n".join(names).encode()


def names_of(stored: Stored, text_of: TextOf) -> list[str]:
    """The list of names that a column holds: packed, or, of an older version, as JSON or as a single name."""
    if isinstance(stored, bytes):
        return unpacked(stored, text_of).split()
    return list(json.loads(stored)) if stored.startswith("[") else [stored] if stored else []


# ------------------------------------------------------------ deflate


def _deflated(raw: bytes, dictionary: bytes, strategy: int = zlib.Z_DEFAULT_STRATEGY) -> bytes:
    bits, memory = (-12, 5) if len(raw) + len(dictionary) <= _SMALL else (-15, 8)
    engine = zlib.compressobj(6, zlib.DEFLATED, bits, memory, strategy, dictionary)
    return engine.compress(raw) + engine.flush()


def _inflated(small: bytes, dictionary: bytes) -> bytes:
    engine = zlib.decompressobj(-15, dictionary)
    raw = engine.decompress(small) + engine.flush()
    if not engine.eof:
        raise ValueError("a packed text that is cut off")
    return raw
