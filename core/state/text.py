"""Types of text that came from a program or a model: whatever passes a seam in them is cleaned."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from utils.clean_text import clean, one_line

CleanText = Annotated[str, AfterValidator(clean)]
"""Text of several lines."""
CleanLine = Annotated[str, AfterValidator(one_line)]
"""One line of bounded length."""
