"""What a call costs that crosses to the sandbox: through the proxy of a user's evaluator, and alone in a session.

`python -m benchmarks.proxied_calls`. In one run, in turns: the same evaluator with its candidate in its own process,
through a session that asks one call at a time, and through the proxy. 10,000 calls may cost at most 3 times the time in
process and 10,000 calls of the session.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from core.contracts import Limits
from core.evaluation.isolation.apart import Apart
from core.executor.sandbox import open_sandbox
from core.executor.warm import WarmSandbox

CALLS = 10_000
REPEATS = 7
PROGRAM = "def priority(item, room):\n    return -abs(room - item - 1.5)\n"
EVALUATOR = f"""
import importlib.util, time
def evaluate(path):
    spec = importlib.util.spec_from_file_location("program", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    began, total = time.perf_counter(), 0.0
    for number in range({CALLS}):
        total += program.priority(number % 97, 3.5)
    return {{"seconds": time.perf_counter() - began, "total": total}}
"""


def in_process(folder: Path) -> tuple[float, float]:
    """(seconds, total) of the evaluator beside its candidate."""
    (folder / "program.py").write_text(PROGRAM)
    names: dict[str, object] = {}
    exec(EVALUATOR, names)
    found = names["evaluate"](str(folder / "program.py"))  # type: ignore[operator]
    return found["seconds"], found["total"]


def by_session(box: WarmSandbox, limits: Limits) -> float:
    """Seconds of as many single calls, the program loaded before."""
    with box.session(PROGRAM, limits=limits) as session:
        session.call("priority", [1, 3.5], timeout=limits.seconds)
        began = time.perf_counter()
        for number in range(CALLS):
            session.call("priority", [number % 97, 3.5], timeout=limits.seconds)
        return time.perf_counter() - began


def by_proxy(box: WarmSandbox, evaluator: Path, limits: Limits, total: float) -> float:
    run = Apart(evaluator, classes=[]).run(box, PROGRAM, limits=limits)
    assert run.value["total"] == total and run.isolated, run
    return float(run.value["seconds"])


def main() -> None:
    limits = Limits(seconds=60, cpu_seconds=600)
    with tempfile.TemporaryDirectory(prefix="swarm-calls-") as top:
        folder = Path(top)
        folder.chmod(0o755)
        (folder / "evaluator.py").write_text(EVALUATOR)
        box = open_sandbox("auto", state_dir=folder / "state")
        assert isinstance(box, WarmSandbox)
        box.ready()
        rows = [one_turn(box, folder, limits) for _ in range(REPEATS)]
        box.close()
    told(rows, box.tier)


def one_turn(box: WarmSandbox, folder: Path, limits: Limits) -> tuple[float, ...]:
    """Seconds: in process, single calls of a session, through the proxy."""
    alone, total = in_process(folder)
    return alone, by_session(box, limits), by_proxy(box, folder / "evaluator.py", limits, total)


def told(rows: Sequence[tuple[float, ...]], tier: str) -> None:
    print(f"tier {tier}, {CALLS:,} calls, medians of {REPEATS} in turns (lowest … highest)")
    names = ("in process", "session, one call at a time", "proxy")
    for place, name in enumerate(names):
        each = sorted(1e6 * row[place] / CALLS for row in rows)
        print(f"{name:30}{median(each):8.2f} µs a call   ({each[0]:.2f} … {each[-1]:.2f})")
    print(f"proxy ÷ session {median(proxy / session for _, session, proxy in rows):.2f}")
    ratio = median(proxy / (3 * alone + session) for alone, session, proxy in rows)
    held = "held" if ratio <= 1 else "NOT held"
    print(f"{CALLS:,} calls ÷ (3 × in process + {CALLS:,} single calls of a session) {ratio:.2f}: {held}")


if __name__ == "__main__":
    main()
