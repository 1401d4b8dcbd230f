"""What stands behind base64 and hexadecimal digits in a text: the text that they spell, with the rest as it is."""

from __future__ import annotations

import base64
import binascii
import io
import re
from collections.abc import Callable, Iterator
from typing import IO

CODED = 4
"""Words that must be coded, if none is long."""
LONG = 40
TRIED = 2000
"""Words of a text that say whether it is worth reading on."""
SHARE = 0.2
"""Part of the words that is coded, at least."""
MOST = 1 << 26
"""Characters of a text that are decoded."""
_WORD = re.compile(r"[A-Za-z0-9+/_-]{4,}={0,2}")
_HEX = re.compile(r"(?:0x)?(?=\d*[a-fA-F])((?:[0-9a-fA-F]{2})+)")
_WRAPPED = re.compile(r"(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9+/_-]{20,}={0,2}[\r\n]+)+[A-Za-z0-9+/_-]*={0,2}")


def decoded(text: str, opened: Callable[[IO[bytes]], Iterator[str]]) -> Iterator[str]:
    """The text with its coded words in plain; nothing where there are none.

    Args:
        opened: what packed bytes say.
    """
    text = _WRAPPED.sub(lambda match: "".join(match[0].split()) + "\n", text[:MOST])
    words = list(dict.fromkeys(match[0] for _, match in zip(range(TRIED), _WORD.finditer(text), strict=False)))
    plain = {word: said for word in words if (said := _plain(word)) is not None}
    if plain and (len(plain) >= max(CODED, SHARE * len(words)) or any(len(word) >= LONG for word in plain)):
        yield _WORD.sub(lambda match: _plain(match[0]) or match[0], text)
    for word in (word for word in words if len(word) >= LONG and word not in plain):
        for content in _bytes(word):
            yield from _packed(content, opened)


def _packed(content: bytes, opened: Callable[[IO[bytes]], Iterator[str]]) -> Iterator[str]:
    if content.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"PK\x03\x04", b"\x93NUMPY", b"PAR1")):
        yield from opened(io.BytesIO(content))


def _plain(word: str) -> str | None:
    """What the word spells, if that is text."""
    for content in _bytes(word):
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            continue
        if text.strip() and "".join(text.split()).isprintable():
            return text
    return None


def _bytes(word: str) -> Iterator[bytes]:
    if match := _HEX.fullmatch(word):
        yield bytes.fromhex(match[1])
    bare = word.rstrip("=").replace("-", "+").replace("_", "/")
    if len(bare) % 4 == 1 or (bare.isdecimal() and len(bare) < LONG):
        return
    try:
        yield base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
    except binascii.Error:
        return
