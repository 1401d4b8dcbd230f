"""The configuration's section `data`: the user's own tables."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from utils.config_section import CommaText, Section


class DataConfig(Section):
    """The user's own data, in place of a bundled competition."""

    dir: str | None = None
    """A folder with the tables, or a single table."""
    train: CommaText = None
    """The training table, where its name does not tell it; relative to `data.dir`, or a path of its own without one.

    A pattern (`2023-*.csv`), names with commas between them, or a folder: files of the same columns are one table.
    """
    test: CommaText = None
    """The table to predict, where it is not called `test`; several files as with `train`."""
    labels: CommaText = None
    """A second table that holds the target, joined by a column that both tables have; several files as with `train`."""
    encoding: str | None = None
    """How your text tables are written (`cp1250`, `koi8_r`), where what is told of them is wrong."""
    goal: str | None = None
    """The task in a sentence, for the prompts."""
    target: CommaText = None
    """The column to predict; several with commas between them, scored by the mean of their scores."""
    classes: CommaText = None
    """The target's classes with commas between them, the lowest grade first; of two the last one counts as positive."""
    metric: str | None = None
    """A metric's name, or `FILE.py:FUNCTION` of your own: `function(truth, predicted)` gives a number."""
    split: str = "random"
    """`random`, `stratified`, `distinct` (equal rows stay together), `group:COLUMN` or `time:COLUMN`."""
    hidden: float = Field(0.3, gt=0, le=0.5)
    """Share of the labelled rows that programs never see: one half of them steers the search, the other half is the
    final part. With `time:COLUMN` it says how far ahead of what is learned a program is scored."""
    preview: Literal["schema", "stats", "rows"] = "stats"
    """What of the data a prompt may show: names and types; plus statistics; plus sample rows."""

    @field_validator("encoding")
    @classmethod
    def _known_encoding(cls, value: str | None) -> str | None:
        try:
            "".encode(value or "utf-8")
        except LookupError as error:
            raise ValueError("an encoding of text that Python knows, such as cp1250, iso8859_2, koi8_r") from error
        return value

    @field_validator("split")
    @classmethod
    def _known_split(cls, value: str) -> str:
        kind, _, column = value.partition(":")
        if value in ("random", "stratified", "distinct") or (kind in ("group", "time") and column):
            return value
        raise ValueError("allowed: random, stratified, distinct, group:COLUMN, time:COLUMN")
