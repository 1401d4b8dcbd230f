"""What code of the user's raised, in one line: plug-ins and problems are called by us and mended by them."""

from __future__ import annotations

import traceback
from collections.abc import Collection


def told_fault(error: BaseException, files: Collection[str]) -> str:
    """What was raised, and the last line in `files`, which are the user's, that led to it."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    place = f" (line {frames[-1].lineno} of {frames[-1].filename})" if frames else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}{place}"
