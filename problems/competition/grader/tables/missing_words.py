"""Words that stand in a cell where a value is missing, beside those that pandas takes for missing by itself."""

from __future__ import annotations

from typing import Any

_SHORT = r"""
? ?? - -- --- – — . .. ... * ** # / // _ \n (null) <null> (none) [null] nil na n.a n.a. n/a nan nat none null
#n/a #value! #div/0! #ref! #name? #num! #null! missing unknown unk undefined unspecified tbd tba tbc
k.a. ka. k.a unbekannt n.v. n.d. n.d n/d nd n/k n.c. n.s. s.d. s/d s.o. inconnu inconnue desconocido desconocida
desconhecido sconosciuto onbekend okänd ukjent brak nieznane неизвестно н/д н.д. нет
不明 未知 不詳 无 無 なし 欠損 欠測 暂无 暂无数据 暫無 없음 미상
"""
_SENTENCES = """
not available; not applicable; not known; not specified; not reported; not given; no data; no value; no answer
no response; k. a.; keine angabe; keine angaben; nicht verfügbar; nicht bekannt; non disponible; non renseigné
non communiqué; sin dato; sin datos; no disponible; sem dados; não informado; non disponibile; niet bekend
brak danych; нет данных
"""
WORDS = frozenset([*_SHORT.split(), *_SENTENCES.strip().replace("\n", "; ").split("; ")])
"""In small letters, one blank between words."""


TO_PANDAS = frozenset([
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
    "NULL", "NaN", "None", "n/a", "nan", "null",
])  # fmt: skip
"""Cells of a text that pandas takes for missing, as they stand."""


def is_missing(text: object) -> bool:
    """True for a cell of blanks, or of a word that says that there is no value."""
    return isinstance(text, str) and (not text.strip() or " ".join(text.split()).casefold() in WORDS)


def missing_in(values: Any) -> set[str]:
    """The cells of a column that say so, without blanks around them."""
    return {str(text).strip() for text in values.dropna().unique() if is_missing(text)}
