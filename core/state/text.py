"""Types of text and data that came from a program or a model: whatever passes a seam in them is cleaned."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator

from utils.clean_data import Bounds, clean_data
from utils.clean_text import clean, one_line, whole, without_host

MEASURED = Bounds(values=10_000, text=4_000, characters=200_000)
"""What is kept of what an evaluator measured."""
RETURNED = Bounds(values=1_000_000, text=100_000, characters=64 << 20)
"""What is read of what an evaluator returned: a score may be the mean of many numbers that nobody looks at."""

CleanText = Annotated[str, AfterValidator(clean)]
"""Text of several lines."""
CleanLine = Annotated[str, AfterValidator(one_line)]
"""One line of bounded length."""
RunText = Annotated[CleanText, AfterValidator(without_host)]
"""What a run printed: clean, and without the place of its interpreter on this machine."""
RunLine = Annotated[CleanLine, AfterValidator(without_host)]
"""The same in one line."""
WholeText = Annotated[str, AfterValidator(whole)]
"""A program: every character stays but half ones, which no file can hold."""
CleanData = Annotated[dict[str, Any], AfterValidator(clean_data)]
"""Plain data with clean texts."""
Measured = Annotated[dict[str, Any], AfterValidator(partial(clean_data, most=MEASURED))]
"""The same, bounded, to be kept."""
Returned = Annotated[Any, AfterValidator(partial(clean_data, most=RETURNED))]
"""The same, to be read."""
