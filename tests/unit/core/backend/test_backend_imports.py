"""A run with `rules` pays for no SDK."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[4]
SDKS = ("openai", "anthropic", "google.genai", "genai_prices", "httpx", "httpx2", "pandas", "sklearn")


def test_no_sdk_is_loaded_before_a_model_is_asked() -> None:
    code = f"""
import sys
import core.backend, core.backend.preflight, core.backend.recording, core.backend.doctor, core.backend.providers
from core.backend import MemoryLog, ModelSettings, ModelClient

class Writer:
    def write(self, context, rng):
        return "text"

model_client = ModelClient({{"code": ModelSettings()}}, log=MemoryLog(), rules=Writer())
model_client.bind("code", "n")("s", "u", context={{}})
print([name for name in {SDKS!r} if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
