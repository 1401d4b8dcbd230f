"""The forms in which a store holds texts and the JSON of its rows; the first byte tells which.

| first byte | what follows |
|---|---|
| 0 | the text itself |
| 1 | a difference: the name of another text (12 bytes), and raw deflate with the end of that text as its dictionary |
| 2 | JSON of a row: raw deflate with `JSON_DICTIONARY` |
| 3 | figures apart: a length (4 bytes), so many bytes of deflate of the text with 0 for each digit, then its digits |
| 4 | a difference with figures apart: a name, and the same with the other text's end, apart as well, as dictionaries |
| 5, 6 | as 3 and 4, the digits of equal lines column by column (since schema 7) |
| 7 | as 2 with `ROW_DICTIONARY` (since schema 10); an event's lacks the node, which stands in its row |
| 120 | zlib |

Lines of a log differ in their figures alone: apart from these they are one line, and the figures by themselves take the
3.3 bits that a digit has. Column by column what counts up in a log (an epoch, a fold) takes next to nothing beside what
is random. A row that holds text instead of bytes was not packed.
"""

from __future__ import annotations

import json
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from functools import lru_cache
from hashlib import blake2b
from itertools import groupby, islice
from operator import eq
from typing import Any


class Figures(Enum):
    """Where the digits of a packed text lie."""

    WITHIN = 0
    APART = 1
    """Behind the text, in the order in which they stand."""
    COLUMNS = 2
    """Behind the text, those of equal lines column by column."""


PLAIN, DIFFERENCE, JSON = (bytes([number]) for number in range(3))
ROW = b"\7"
_ALONE = {Figures.APART: b"\3", Figures.COLUMNS: b"\5"}
_DIFFERENCE = {Figures.WITHIN: DIFFERENCE, Figures.APART: b"\4", Figures.COLUMNS: b"\6"}
DIFFERENCES = tuple(_DIFFERENCE.values())
_FIGURES = {form: figures for forms in (_ALONE, _DIFFERENCE) for figures, form in forms.items()}
_NAME_BYTES = 12
WINDOW = 32_768
"""Bytes to which a difference can refer: deflate reaches no farther."""
MOST_TURNED = 1 << 20
"""Bytes of a text whose digits may lie by columns: to turn them takes some 70 bytes of memory for a byte of text."""
MOST_BYTES = 256 << 20
"""No text of ours is longer: a stranger's store must not fill the memory of who reads it."""
JSON_BYTES = 16 << 20
JSON_SHARE = 64
"""JSON of a row unpacks to so many bytes, or to so many times those that it takes in the file, whichever is more: its
objects take ten times its own memory. What would not come back is stored as text."""
_STRETCH = 1 << 20
_LENGTH = 4
_TO_ZERO = bytes.maketrans(b"123456789", b"000000000")
_NO_DIGITS = bytes(byte for byte in range(256) if byte not in b"0123456789")
_BASES = 64
"""So many ends of texts that differences were made to, or read by, are kept apart from their figures."""
_SMALL = 4096
"""Up to here deflate gets along with tables that are sooner made."""
Stored = bytes | str
Apart = tuple[bytes, bytes]
"""A text without its figures, and these."""
TextOf = Callable[[str], bytes]
"""Name of a text → the text's bytes."""

JSON_DICTIONARY = (
    b'"review":{"summary":"","claimed_metric":0.0,"lower_is_better":"analysis":""review_error":"","refusal":"","rung":'
    b'"cheap","rung":"full","behaviour":"","cheap_score":0.,"files":{"artifacts":{"metrics":{"features":{"exc_type":"",'
    b'"exc_info":{"exc_stack":[["task_type":"exploit","signature":[0.0,1.0,0.,"tournament":{"standings":[{"genes":[['
    b'"MODEL",1],["TRAIN",1],["PREDICT",1],["HEAD",1],["DATA",1],["FEATURES",1],["DATA 2",1]],"fingerprint":[16,""],'
    b'"stages":{"prompt":0.000,"reply":0.01,"code":0.000,"execute":0.0,"review":0.0},"lower_is_better":true,"round":1}'
    b'{"operator": "mutate", "parent_ids": [""], "repairs": 0, "generation": 1, "island": 0, "seen": 1, '
    b'{"operator": "improve", "parent_ids": [""], "repairs": 0, "generation": null, "island": null, "seen": 1, '
    b'"steps_left": 1, "seed": 1, "task_type": "explore"}{"type":"round.opened","round":1,"node_ids":["","","",""]}'
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
"""What the JSON of rows had in common before schema 10. Part of the stored form, as the next one."""
ROW_DICTIONARY = (
    b'"review":{"summary":"","claimed_metric":0.0,"analysis":""review_error":"","refusal":"","rung":"full","rung":"cheap"'
    b',"cheap_score":0.,"behaviour":"","files":{"artifacts":{"metrics":{"features":{"signature":[0.0,1.0,0.,"exc_type":"'
    b'","exc_info":{"exc_stack":[["tournament":{"standings":[{"unisolated":""fingerprint":"exploit"{"genes":[["MODEL",1]'
    b',["TRAIN",1],["PREDICT",1],["HEAD",1],["DATA",39],["FEATURES",39],["DATA 2",7]],"stages":{"prompt":0.000,"reply":'
    b'0.01,"code":0.00,"execute":0.000,"review":0.0},"lower_is_better":true,"round":1}'
    b'{"operator": "mutate", "parent_ids": ["", ""], "repairs": 0, "generation": 1, "island": 0, "seen": 1, '
    b'{"operator": "improve", "parent_ids": [""], "repairs": 0, "generation": null, "island": null, "seen": 1, '
    b'"steps_left": 1, "seed": 1, "task_type": "explore"}{"type":"round.opened","round":1,"node_ids":["","","",""]}'
    b'{"type":"node.stage","stage":"execute","seconds":0.000}'
    b'{"type":"node.proposed","round":1,"slot":1,"operator":"mutate","parent_ids":["",""],"generation":1,"island":0}'
    b'{"type":"node.proposed","round":1,"slot":0,"operator":"improve","parent_ids":[""],"generation":null,"island":null}'
    b'{"type":"llm.called","call_id":1,"role":"code","provider":"openai","model":"gpt-5","prompt_tokens":1,'
    b'"completion_tokens":1,"cost_usd":0.0,"seconds":1.0,"tries":1,"cached":true}'
    b'{"type":"llm.called","call_id":1,"role":"code","provider":"rules","model":"rules","prompt_tokens":null,'
    b'"completion_tokens":null,"cost_usd":null,"seconds":0.000,"tries":1,"cached":false}'
    b'"the same program as , not run","metric_source":"unisolated","nothing_left":true,"failure":"timeout","message":"'
    b'"prompt_tokens":1,"completion_tokens":1,"cost_usd":0.0,"is_best":true,"best_metric":'
    b'{"type":"node.committed","step":1,"number":1,"parent_ids":["",""],"operator":"mutate","generation":1,"island":0,'
    b'"metric":0.,"metric_source":"verified","claimed_metric":null,"is_buggy":false,"is_valid":true,"nothing_left":false,'
    b'"failure":null,"message":"","exec_time":0.0,"writer":"'
    b'{"type":"node.committed","step":1,"number":1,"parent_ids":[""],"operator":"improve","generation":null,'
    b'"island":null,"metric":null,"metric_source":null,"claimed_metric":null,"is_buggy":true,"is_valid":true,'
    b'"nothing_left":false,"failure":"runtime","message":"Error: \'","exec_time":1.0,"writer":"rules",'
    b'"prompt_tokens":null,"completion_tokens":null,"cost_usd":null,"is_best":false,"best_metric":0.,"best_node_id":"","elapsed":1.'
    b'{"type":"node.committed","step":1,"number":1,"parent_ids":[""],"operator":"improve","generation":null,'
    b'"island":null,"metric":0.,"metric_source":"verified","claimed_metric":null,"is_buggy":false,"is_valid":true,'
    b'"nothing_left":false,"failure":null,"message":"","exec_time":1.0,"writer":"rules","prompt_tokens":null,'
    b'"completion_tokens":null,"cost_usd":null,"is_best":false,"best_metric":0.,"best_node_id":"","elapsed":1'
)
"""What the JSON of rows has in common. Part of the stored form: another one would be another first byte."""
_JSON_DICTIONARIES = {JSON: JSON_DICTIONARY, ROW: ROW_DICTIONARY}


def fitting(figures: Figures, length: int) -> Figures:
    """Where digits lie in a text of so many bytes: a long one has too many lines to be turned."""
    return Figures.APART if figures is Figures.COLUMNS and length >= MOST_TURNED else figures


def packed(raw: bytes, figures: Figures = Figures.WITHIN) -> bytes:
    """A text's bytes alone."""
    figures = fitting(figures, len(raw))
    if figures is not Figures.WITHIN:
        return _ALONE[figures] + _figures_deflated(figures_apart(raw, figures), (b"", b""))
    small = zlib.compress(raw, 6)
    return small if len(small) < len(raw) else PLAIN + raw


def difference(raw: bytes, name: str, dictionaries: Apart, figures: Figures = Figures.WITHIN) -> bytes:
    """A text's bytes as what is not in another one, which is stored by that name and no difference itself.

    Args:
        dictionaries: `dictionaries_of` the other text, for these figures.
    """
    within = figures is Figures.WITHIN
    apart = figures_apart(raw, figures)
    small = _deflated(raw, dictionaries[0]) if within else _figures_deflated(apart, dictionaries)
    return _DIFFERENCE[figures] + name_bytes(name) + small


def dictionaries_of(other: bytes, figures: Figures) -> Apart:
    """What a difference to that text refers to: its end."""
    return _end_apart(other[-WINDOW:], figures)


@lru_cache(maxsize=_BASES)
def _end_apart(end: bytes, figures: Figures) -> Apart:
    return figures_apart(end, figures)


def figures_apart(raw: bytes, figures: Figures) -> Apart:
    """A text with each digit as 0, and its digits; the text as it is, and none, where they lie within."""
    if figures is Figures.WITHIN:
        return raw, b""
    text, digits = raw.translate(_TO_ZERO), raw.translate(None, _NO_DIGITS)
    return text, _turned(text, digits, back=False) if figures is Figures.COLUMNS else digits


def _turned(text: bytes, digits: bytes, *, back: bool) -> bytes:
    """Digits of a text by columns, or, `back`, again in the order in which they stand."""
    lines = text.split(b"\n")
    if not any(map(eq, lines, islice(lines, 1, None))):  # most programs: no line follows its equal
        return digits
    return b"".join(_pieces(lines, digits, back))


def _pieces(lines: Iterable[bytes], digits: bytes, back: bool) -> Iterator[bytes]:
    at = 0
    for line, equal in groupby(lines):
        count, width = len(list(equal)), line.count(b"0")
        piece = digits[at : at + count * width]
        at += count * width
        step = (count if back else width) if count > 1 < width else 1
        yield from (piece[start::step] for start in range(step))


def _figures_deflated(apart: Apart, dictionaries: Apart) -> bytes:
    small = _deflated(apart[0], dictionaries[0])
    return len(small).to_bytes(_LENGTH, "big") + small + _deflated(apart[1], dictionaries[1], zlib.Z_FILTERED)


def _figures_inflated(small: bytes, dictionaries: Apart, figures: Figures) -> bytes:
    begin = _LENGTH + int.from_bytes(small[:_LENGTH], "big")
    most = min(MOST_TURNED, MOST_BYTES) if figures is Figures.COLUMNS else MOST_BYTES
    text = _inflated(small[_LENGTH:begin], dictionaries[0], most=most)
    digits = _inflated(small[begin:], dictionaries[1], most=most)
    if text.count(b"0") != len(digits):
        raise ValueError("a packed text with other figures than its own")
    if figures is Figures.COLUMNS:
        digits = _turned(text, digits, back=True)
    return b"".join(_with_figures(text, digits))


def _with_figures(text: bytes, digits: bytes) -> Iterator[bytes]:
    """The text with its digits, a stretch at a time: put in at once they take twelve times the text's own bytes."""
    at = 0
    for start in range(0, len(text), _STRETCH):
        stretch = text[start : start + _STRETCH]
        count = stretch.count(b"0")
        yield stretch.replace(b"%", b"%%").replace(b"0", b"%c") % tuple(digits[at : at + count])
        at += count


def name_of(raw: bytes) -> str:
    """A text's name: BLAKE2b in base 64 for addresses, 16 characters."""
    return urlsafe_b64encode(blake2b(raw, digest_size=_NAME_BYTES).digest()).decode()


def is_named(name: str, raw: bytes) -> bool:
    """True if this is the text of that name; before schema 4 names were in hex."""
    return name in (name_of(raw), blake2b(raw, digest_size=_NAME_BYTES).hexdigest())


def name_bytes(name: str) -> bytes:
    """A name as a difference holds it."""
    return urlsafe_b64decode(name)


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
    if form not in _FIGURES:
        return _inflated(stored, b"", zlib.MAX_WBITS)
    figures, end = _FIGURES[form], b""
    if form in DIFFERENCES:
        name, rest = rest[:_NAME_BYTES], rest[_NAME_BYTES:]
        if not rest:
            raise ValueError("a difference that is cut off")
        end = text_of(urlsafe_b64encode(name).decode())
    dictionaries = dictionaries_of(end, figures)
    within = figures is Figures.WITHIN
    return _inflated(rest, dictionaries[0]) if within else _figures_inflated(rest, dictionaries, figures)


def unpacked(stored: Stored, text_of: TextOf) -> str:
    """The text of a row of `texts`; see `raw_text`."""
    return stored if isinstance(stored, str) else raw_text(stored, text_of).decode("utf-8", "surrogatepass")


def whole_text(stored: Stored) -> bytes:
    """The bytes of a text that differences refer to. ValueError where it is one itself: there would be no end."""
    return raw_text(stored, _refused)


def _refused(name: str) -> bytes:
    raise ValueError(f"a difference to text {name}, where a whole text is expected")


# ------------------------------------------------------------ JSON of rows


def pack_json(text: str) -> Stored:
    """JSON of a row, packed; as it is where it would be refused as what fills the memory."""
    raw = text.encode("utf-8", "surrogatepass")
    small = ROW + _deflated(raw, ROW_DICTIONARY)
    return small if len(raw) <= _most_json(small) else text


def json_text(stored: Stored) -> str:
    """The JSON that a column holds, packed or as text."""
    if isinstance(stored, str):
        return stored
    dictionary = _JSON_DICTIONARIES.get(stored[:1])
    if dictionary is None:
        raise ValueError("no packed JSON")
    return _inflated(stored[1:], dictionary, most=_most_json(stored)).decode("utf-8", "surrogatepass")


def _most_json(stored: bytes) -> int:
    """Bytes to which packed JSON may unpack."""
    return min(max(JSON_BYTES, JSON_SHARE * len(stored)), MOST_BYTES)


def json_of(stored: Stored) -> Any:
    """The value that a column holds as JSON, packed or as text."""
    return json.loads(json_text(stored))


# ------------------------------------------------------------ messages in parts

_INLINE = 200
"""Characters up to which a part stands in its message's list: a row of its own takes some 100 bytes beside its text."""
_INLINE_PROGRAM = 80
"""The same of a program, which mostly has its row already."""


def inlined(part: str, *, is_program: bool = False) -> str:
    """A short part as its line of the list, in quotes; '' for one that gets a row and is named there."""
    return json.dumps(part) if len(part) <= (_INLINE_PROGRAM if is_program else _INLINE) else ""


def part_of(line: str, named: Callable[[str], str]) -> str:
    """The part that a line of the list tells."""
    return str(json.loads(line)) if line.startswith('"') else named(line)


def parts_text(lines: Sequence[str]) -> bytes:
    """A message's list as a text: a line a part, its name, or the part itself as JSON."""
    return "\n".join(lines).encode()


def parts_of(stored: Stored, text_of: TextOf) -> list[str]:
    """The lines of a message's list; of an older version, a JSON list of names or a single name."""
    if isinstance(stored, bytes):
        listed = unpacked(stored, text_of)
        return listed.split("\n") if listed else []
    return list(json.loads(stored)) if stored.startswith("[") else [stored] if stored else []


# ------------------------------------------------------------ deflate


def _deflated(raw: bytes, dictionary: bytes, strategy: int = zlib.Z_DEFAULT_STRATEGY) -> bytes:
    bits, memory = (-12, 5) if len(raw) + len(dictionary) <= _SMALL else (-15, 8)
    engine = zlib.compressobj(6, zlib.DEFLATED, bits, memory, strategy, dictionary)
    return engine.compress(raw) + engine.flush()


def _inflated(small: bytes, dictionary: bytes, bits: int = -zlib.MAX_WBITS, *, most: int | None = None) -> bytes:
    most = MOST_BYTES if most is None else most
    engine = zlib.decompressobj(bits, dictionary)
    raw = engine.decompress(small, most)
    if not engine.eof:
        raise ValueError(f"a packed text that is cut off, or longer than {most >> 20} MB")
    return raw
