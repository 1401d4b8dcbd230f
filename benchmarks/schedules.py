"""How many candidates a minute each schedule makes of slow writers, and whether the clock decides anything.

`python -m benchmarks.schedules [--steps 60] [--scale 100]`: replies take lognormal times (median 10 s, sigma 1) and
programs 2 s, both divided by `--scale` and multiplied back in what is printed. "with ideas": a call a row of
`search.batch` proposals gives them directions, and takes as long as the others. All in this process, without a sandbox.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.coder_agent import CoderAgent
from agents.ideas import ROLE
from core.backend.model_client import ModelClient
from core.backend.roles import model_settings
from core.contracts import Evaluation, EvaluatorDefaults
from core.loop.attempt import RunContext
from core.loop.orchestrator import Orchestrator
from core.loop.plan import Plan, lag_of
from core.loop.schedules import SCHEDULES
from core.loop.stages import Stages
from core.search.stopping import stopping
from core.search.three_phase import ThreePhaseOptions, ThreePhasePolicy
from core.state.journal import Journal
from core.state.memory import Memory
from core.storage.repository import RunStore
from utils.config_llm import LLMConfig

MEDIAN_REPLY, SIGMA, PROGRAM = 10.0, 1.0, 2.0
"""Seconds."""
BATCH = 4


class SlowWriter:
    """Draws a number; each reply takes its own time, the same for the same seed of the clock."""

    def __init__(self, clock: int, scale: float) -> None:
        self._clock, self._scale = clock, scale

    def write(self, context: Mapping[str, Any], rng: random.Random) -> str:
        wait = random.Random(f"{self._clock}/{context['task']}").lognormvariate(0, SIGMA) * MEDIAN_REPLY
        time.sleep(wait / self._scale)
        if context.get("role") == ROLE:
            return json.dumps({"ideas": [f"{context['task']['round']}.{place}" for place in range(context["count"])]})
        return f"```python\nx = {rng.uniform(-9, 9)!r}\n```\n"


class SlowJudge(EvaluatorDefaults):
    """The distance of the number from 2."""

    together = False

    def __init__(self, scale: float) -> None:
        self._scale = scale

    def check(self, node: Any) -> None:
        return None

    def evaluate(self, nodes: Sequence[Any]) -> list[Evaluation]:
        time.sleep(PROGRAM / self._scale)
        return [Evaluation(metric=abs(float(node.code.partition("=")[2]) - 2), source="verified") for node in nodes]


def search(schedule: str, steps: int, scale: float, *, ideas: bool, clock: int, threads: int) -> tuple[float, str]:
    """(seconds, journal's hash) of one search."""
    with tempfile.TemporaryDirectory(prefix="swarm-schedules-") as folder:
        store, journal, judge = RunStore(Path(folder)), Journal(lower_is_better=True), SlowJudge(scale)
        client = ModelClient(model_settings(LLMConfig()), log=store, rules=SlowWriter(clock, scale), run_seed=1)
        agent = CoderAgent(single_function=True)
        stages = Stages(
            agents={"*": agent}, reviewer=None, evaluator=judge, store=store, journal=journal,
            run_context=RunContext(
                "Find x near 2.", lower_is_better=True, writers=BATCH, batch=BATCH,
                sharing=1 if SCHEDULES[schedule].whole_rounds else BATCH, ideas=BATCH if ideas else 0,
            ),
            bind=client.bind, usage=client.usage_of,
        )  # fmt: skip
        started = time.perf_counter()
        Orchestrator(
            plan=Plan(seed=1, max_steps=steps, writers=threads), schedule=SCHEDULES[schedule](),
            policy=ThreePhasePolicy(ThreePhaseOptions()), stages=stages, evaluator=judge, store=store, journal=journal,
            stop=stopping(max_steps=steps).reason, spent=lambda: (0, 0.0), usage=client.usage_of,
            active_seconds=lambda: time.perf_counter() - started, memory=lambda journal, task: Memory(),
        ).run()  # fmt: skip
        seconds = time.perf_counter() - started
        client.close()
        store.close()
    return seconds, journal.sha256


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--scale", type=float, default=100.0)
    args = parser.parse_args()
    print(f"{args.steps} steps, search.batch={BATCH}; three clocks each: replies are slow at other places")
    print(f"{'schedule':20s} {'candidates a minute':>28s}   same journal for every clock and 1, 2, 4, 16 threads")
    for name, ideas in ((name, ideas) for ideas in (False, True) for name in ("rounds", "pipeline", "async")):
        rates, hashes = [], set()
        for clock in range(3):
            seconds, digest = search(name, args.steps, args.scale, ideas=ideas, clock=clock, threads=lag_of(BATCH))
            rates.append(60 * args.steps / (seconds * args.scale))
            hashes.add(digest)
        for threads in (1, 2, 4, 16):
            hashes.add(search(name, args.steps, args.scale * 10, ideas=ideas, clock=threads, threads=threads)[1])
        shown = " ".join(f"{rate:8.1f}" for rate in sorted(rates))
        same = "yes" if len(hashes) == 1 else f"no: {len(hashes)} journals"
        print(f"{name + (' with ideas' if ideas else ''):20s} {shown:>28s}   {same}", flush=True)


if __name__ == "__main__":
    main()
