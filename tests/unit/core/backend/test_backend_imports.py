"""A run with `rules` pays for no SDK."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
SDKS = ("anthropic", "google.genai", "genai_prices", "httpx", "httpx2", "pandas", "sklearn")


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
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=240, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("provider", "module"), [("anthropic", "anthropic"), ("openai", "httpx2")])
def test_what_a_model_is_asked_with_is_loaded_while_a_run_is_made_ready_but_not_for_a_replay(
    provider: str, module: str
) -> None:
    """The first call would wait for it: of an SDK a second."""
    code = f"""
import sys, threading
from core.backend import MemoryLog, ModelSettings, ModelClient

role = ModelSettings(provider="{provider}", model="m", base_url="http://127.0.0.1:9/v1")
for offline in (True, False):
    ModelClient({{"code": role}}, log=MemoryLog(), offline=offline).prepare()
    for thread in threading.enumerate():
        if thread.name == "llm-client":
            thread.join()
    print("{module}" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=240, check=True
    )
    assert done.stdout.split() == ["False", "True"]
