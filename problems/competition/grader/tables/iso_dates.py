"""Dates of other languages, and those that a column writes in several ways, as ISO 8601.

It needs nothing of ours: notebooks that leave this machine hold it.
"""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

MONTH_WORDS = """
jan january januar jänner janvier janv enero ene gennaio gen janeiro januari januára ledna styczeń stycznia янв января
feb february februar feber février févr fév febrero febbraio fevereiro fev februari února luty lutego фев февраля
mar march märz mär maerz mars marzo março maart mrt března marzec marca мар марта
apr april avril avr abril abr aprile dubna kwiecień kwietnia апр апреля
may mai mayo maggio mag maio mei maj května maja мая май
jun june juni juin junio giugno giu junho června czerwiec czerwca июн июня
jul july juli juillet juil julio luglio lug julho července lipiec lipca июл июля
aug august août aout agosto ago augustus augusti srpna sierpień sierpnia авг августа
sep sept september septembre septiembre settembre set setembro září wrzesień września сен сентября
oct okt october oktober octobre octubre ottobre ott outubro out října październik października окт октября
nov november novembre noviembre novembro listopadu listopad listopada ноя ноября
dec dez december dezember décembre déc decembre diciembre dic dicembre dezembro prosince grudzień grudnia дек декабря
"""
MONTHS = {word: number for number, words in enumerate(MONTH_WORDS.strip().split("\n"), 1) for word in words.split()}
NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
WORD = re.compile(r"[^\W\d_]+")
IN_FIGURES = re.compile(r"[\d\s:/.-]*")
FIRST_WORD = re.compile(r"^[^\W\d]+[.,]*\s+(?=\d|[^\W\d]+\.?\s+\d)")
"""In front of a date: a weekday, or a month."""


def in_english(text: str) -> str:
    """A date with its month in English, without weekday and endings: `5. März 2021` is `5 Mar 2021`, `2021年3月5日` is
    `2021-3-5`.
    """
    if IN_FIGURES.fullmatch(text):
        return " ".join(text.split())
    text = re.sub(r"[年년]\s*|(?<=\d)[月월]\s*(?=\d)", "-", text.strip())
    text = re.sub(r"[日일]|(?<=\d)[月월]", "", text)
    text = FIRST_WORD.sub(lambda found: found[0] if month_of(found[0]) else "", text)
    text = re.sub(r"(?<=\d)(?:st|nd|rd|th|er|º|ª|°)(?=\W)", "", text)
    text = re.sub(r"\bdel?\b\s*", "", text)
    text = WORD.sub(lambda found: NAMES[month_of(found[0]) - 1] if month_of(found[0]) else found[0], text)
    text = re.sub(r"(?<=\d)\.\s+(?=[A-Z])", " ", text)
    return " ".join(re.sub(r"(?<=[a-z])\.", "", text).split())


def month_of(word: str) -> int:
    """Its number; 0 for other words."""
    return MONTHS.get(word.strip(" .,").lower(), 0)


def shape_of(text: str) -> str:
    """What a date looks like: `n` for one or two digits, their count for more, `Mon` for a month in words."""
    text = re.sub(r"\d+", lambda found: "n" if len(found[0]) < 3 else str(len(found[0])), text)
    return WORD.sub(lambda found: "Mon" if found[0] in NAMES else found[0], text)


def iso_dates(values: Any, formats: dict[str, str], clock: bool, missing: Any) -> Any:
    """The cells as ISO 8601, missing where they are; None where one cannot be written so.

    Args:
        formats: shape → what `pandas.to_datetime` is told.
        clock: whether hours and minutes are written.
        missing: cells that say that there is no date.
    """
    there = values[values.notna() & ~values.astype(str).str.strip().isin(missing)].astype(str)
    texts = there.map({text: in_english(text) for text in there.unique()})
    shapes = texts.map({text: shape_of(text) for text in texts.unique()})
    found = pd.Series(pd.NaT, index=texts.index, dtype="datetime64[ns, UTC]")
    for shape, form in formats.items():
        found[shapes == shape] = pd.to_datetime(texts[shapes == shape], format=form, errors="coerce", utc=True)
    if found.isna().any() or (not clock and (found != found.dt.normalize()).any()):
        return None
    written = found.dt.strftime("%Y-%m-%d %H:%M:%S" if clock else "%Y-%m-%d")
    return written.astype(object).reindex(values.index)
