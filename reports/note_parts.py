"""What a problem says of its scores before the search begins, in parts that are seen one by one."""

from __future__ import annotations

LONG = 120
"""Characters that are still seen at a glance."""


def note_parts(note: str) -> list[str]:
    """Of a long note its parts, so that none is overlooked in a paragraph; [] of none."""
    parts = note.split("; ") if len(note) > LONG else [note]
    return [part for part in parts if part]
