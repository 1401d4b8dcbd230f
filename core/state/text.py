"""Types of text that came from a program or a model: whatever passes a seam in them is cleaned."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from utils.clean_text import clean, one_line, without_host

CleanText = Annotated[str, AfterValidator(clean)]
"""Text of several lines."""
CleanLine = Annotated[str, AfterValidator(one_line)]
"""One line of bounded length."""
RunText = Annotated[CleanText, AfterValidator(without_host)]
"""What a run printed: clean, and without the place of its interpreter on this machine."""
RunLine = Annotated[CleanLine, AfterValidator(without_host)]
"""The same in one line."""
