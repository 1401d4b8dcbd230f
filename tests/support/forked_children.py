"""What this process starts with `python main.py` is forked: of those that are forked themselves."""

from __future__ import annotations

import subprocess

from .forked_main import ForkedPopen

subprocess.Popen = ForkedPopen  # type: ignore[misc]
