"""In which of the code pages of one byte a letter a text makes words: told from which letters it has beyond ASCII.

Nearly every byte is a letter in each of them. Where a page is the wrong one, the letters are those of no one language:
Czech read as Western text has `ø`, `ì` and `è`; Russian in KOI8 that is read as Windows' has few frequent letters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

COVERED = 0.97
"""Part of a text's letters beyond ASCII that one language has."""
FEWEST = 3
"""Different letters that tell a page other than the Western one."""
_WEST = (
    "äöüß", "àâæçéèêëîïôœùûüÿ", "áéíñóúü", "áâãàçéêíóôõúü", "àèéìíîòóùú", "áéèêëïíóöüú", "åäöé", "æøåéü", "áðéíóúýþæö",
    "àçèéíïòóúü",
)  # fmt: skip
"""Of German, French, Spanish, Portuguese, Italian, Dutch, Swedish, Danish, Icelandic and Catalan."""
_CENTRE = ("ąćęłńóśźż", "áčďéěíňóřšťúůýžäľĺŕô", "áéíóöőúüű", "čćđšž", "ăâîşţ")
"""Of Polish, Czech and Slovak, Hungarian, Croatian and Slovene, Romanian."""
_TURKISH, _BALTIC = ("çğıöşüâîû",), ("āčēģīķļņšūž", "ąčęėįšųūž")
_PAGES = (
    ("cp1252", _WEST), ("cp1250", _CENTRE), ("iso8859_2", _CENTRE), ("cp1254", _TURKISH), ("cp1257", _BALTIC),
    ("cp850", _WEST), ("cp852", _CENTRE), ("mac_roman", _WEST),
)  # fmt: skip
_NO_LETTERS = frozenset("°²³µ§«»„“”‚‘’–—…€£©®™·•¿¡ªº½¼¾×±")
"""Marks that a text of any language may hold."""
CYRILLIC = ("cp1251", "koi8_r", "cp866", "iso8859_5", "mac_cyrillic")
_FREQUENT = frozenset("оеаинтсрвл")
"""Two thirds of a Russian text; six of them are vowels or frequent in Ukrainian, Bulgarian and Serbian as well."""
SURE = 0.55
"""Part of the letters that are frequent in Russian (0.65); in texts of other scripts, read so, fewer than 0.5 are."""
_TURNED = re.compile(r"\b[а-яё][А-ЯЁ]+\b")


def latin_page(sample: bytes) -> str | None:
    """The code page whose letters are those of a language that is written in Latin letters; None where none is."""
    high = Counter(byte for byte in sample if byte > 127)
    for page, languages in _PAGES:
        letters: Counter[str] = Counter()
        for byte, count in high.items():
            letter = bytes([byte]).decode(page, errors="replace").lower()[0]  # of İ, the i below its dot
            letters[letter] += 0 if letter.isascii() or letter in _NO_LETTERS else count
        there = {letter for letter, count in letters.items() if count}
        if _covered(letters, languages) >= COVERED and (page == "cp1252" or len(there) >= FEWEST):
            return page
    return None


def cyrillic_page(sample: bytes) -> tuple[str, bool]:
    """The code page in which most letters are frequent ones, and in which words begin, not end, in capitals; and
    whether so many are that no other script comes to it."""
    alike = {page: _like_words(sample.decode(page, errors="replace")) for page in CYRILLIC}
    page = max(alike, key=lambda page: alike[page])
    return page, alike[page] >= SURE


def _covered(letters: Counter[str], languages: Iterable[str]) -> float:
    count = letters.total()
    return max(sum(letters[letter] for letter in language) for language in languages) / count if count else 1.0


def _like_words(text: str) -> float:
    foreign = [letter for letter in text if not letter.isascii()]
    frequent = sum(letter.lower() in _FREQUENT for letter in foreign)
    turned = sum(len(word) for word in _TURNED.findall(text))
    return (frequent - turned) / max(1, len(foreign))
