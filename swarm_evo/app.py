"""Where the application lies: `_app/` inside an installed wheel, the checkout in an editable install."""

from __future__ import annotations

from pathlib import Path


def app_dir() -> Path:
    """The folder of main.py."""
    inside = Path(__file__).resolve().parent / "_app"
    return inside if (inside / "main.py").is_file() else Path(__file__).resolve().parent.parent
