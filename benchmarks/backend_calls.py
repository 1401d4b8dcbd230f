"""What a call costs beside the model: `rules`, the record, the cache, and a real HTTP server on loopback.

    python benchmarks/backend_calls.py [--calls 1000] [--repeats 5]

Calls a second, median of the repeats with the lowest and the highest. Prompts are 10 kB, the parent 5 kB. The HTTP
server is `llmock` (a development package) in a process of its own, so that it takes none of our processor's time slice.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.backend import MemoryLog, ModelClient, ModelSettings, ReplyCache
from core.storage.repository import RunStore

CONTEXT = {"operator": "improve", "parents": [{"code": "x = 1\n" * 800, "metric": 0.5}], "preview": ""}
SERVER = """
import time
from llmock.testing import LLMockServer
with LLMockServer() as server:
    print(server.base_url("openai"), flush=True)
    time.sleep(600)
"""


class Writer:
    """The cheapest repertoire there is, so that the model_client itself is what is timed."""

    def write(self, context: Mapping[str, Any], rng: random.Random) -> str:
        return f"plan\n```python\nx = {rng.random()}\n```"


def ask(model_client: ModelClient, calls: int) -> float:
    started = time.perf_counter()
    for node in range(calls):
        model_client.bind("code", f"{node:012x}")("s" * 2000, "u" * 8000, context=CONTEXT)
    return calls / (time.perf_counter() - started)


def rules(calls: int) -> float:
    return ask(ModelClient({"code": ModelSettings()}, log=MemoryLog(), rules=Writer()), calls)


def rules_and_store(calls: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        store = RunStore(Path(folder) / "run")
        try:
            return ask(ModelClient({"code": ModelSettings()}, log=store, rules=Writer()), calls)
        finally:
            store.close()


def http(url: str) -> Callable[[int], float]:
    model = ModelSettings(provider="openai", model="gpt-4o-mini", base_url=url)

    def measure(calls: int) -> float:
        model_client = ModelClient({"code": model}, log=MemoryLog())
        model_client.bind("code", "warm")("s", "u")
        rate = ask(model_client, calls // 10)
        model_client.close()
        return rate

    return measure


def cached(url: str) -> Callable[[int], float]:
    model = ModelSettings(provider="openai", model="gpt-4o-mini", base_url=url)

    def measure(calls: int) -> float:
        with tempfile.TemporaryDirectory() as folder:
            rates = []
            for _ in range(2):  # the first fills the cache, the second is answered by it
                model_client = ModelClient({"code": model}, log=MemoryLog(), cache=ReplyCache(Path(folder) / "c.db"))
                rates.append(ask(model_client, calls // 10))
                model_client.close()
            return rates[1]

    return measure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        rows = {"rules": rules, "rules + run store": rules_and_store, "HTTP": http(url), "cache": cached(url)}
        for name, measure in rows.items():
            rates = [measure(args.calls) for _ in range(args.repeats)]
            print(f"{name:20} {statistics.median(rates):8.0f} calls/s   ({min(rates):.0f} … {max(rates):.0f})")
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    main()
