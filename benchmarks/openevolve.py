"""Beside OpenEvolve: the same programs of one scripted model server, the same evaluators, in turns on the same machine.

`python -m benchmarks.openevolve [--counts 50,200,1000] [--repeats 3] [--peer PYTHON]`. Without `--peer` OpenEvolve is
installed from PyPI into an environment below a temporary folder. OpenEvolve runs candidates beside the evaluator,
without a sandbox; ours run in it, and what ranks was scored apart.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from benchmarks._orphans import adopt, children, cpu_seconds

ROOT = Path(__file__).resolve().parent.parent
VERSION = "0.4.1"

ONE_CALL = (
    "def f(x):\n    return x + START\n",
    """
import importlib.util, time
def evaluate(path):
    spec = importlib.util.spec_from_file_location("program", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    end = time.perf_counter() + 0.001
    while time.perf_counter() < end:
        pass
    return {"combined_score": -abs(program.f(1.0) - 3.0)}
""",
)
MANY_CALLS = (
    "def priority(item, room):\n    return -abs(room - item - START)\n",
    """
import importlib.util, random
ITEMS = [random.Random(7 + i).randint(20, 100) for i in range(131)]
def evaluate(path):
    spec = importlib.util.spec_from_file_location("program", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    rooms, filled = [150] * 10, 0
    for item in ITEMS:
        ranks = [program.priority(item, room) for room in rooms]
        best = max(range(10), key=lambda i: ranks[i] if rooms[i] >= item else -1e9)
        if rooms[best] < item:
            filled += 1
            best = min(range(10), key=rooms.__getitem__)
            rooms[best] = 150
        rooms[best] -= item
    return {"combined_score": -float(filled)}
""",
)
WORKLOADS = {"one call, 1 ms": (ONE_CALL, ["auto"]), "bin packing, many calls": (MANY_CALLS, ["auto", "apart"])}
"""Program and evaluator, and how ours keeps the two apart."""

PEER_CONFIG = """
max_iterations: {count}
checkpoint_interval: {checkpoint}
log_level: ERROR
diff_based_evolution: false
random_seed: 1
llm:
  api_base: {url}
  models: [{{name: scripted, weight: 1.0}}]
evaluator: {{cascade_evaluation: false, parallel_evaluations: 2, timeout: 60}}
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one run: seconds of all of it, candidates a second from the first request on, CPU seconds of all of it."""

    seconds: float
    rate: float
    cpu: float
    note: str = ""


@contextmanager
def model(program: str, folder: Path, seconds: float = 0.0) -> Iterator[str]:
    """The scripted server's address; each answer takes so long."""
    (folder / "answer.py").write_text(program)
    server = subprocess.Popen(
        [sys.executable, str(ROOT / "benchmarks" / "_scripted_model.py"), str(folder / "answer.py"), str(seconds)],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(server.stdout.readline())}"
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


def timed(command: list[str], url: str, count: int, folder: Path) -> Outcome:
    """Run it; the rate is that between the first request and the end of the run."""
    environment = dict(os.environ) | {"OPENAI_API_KEY": "none", "PYTHONDONTWRITEBYTECODE": "1"}
    with (folder / "said").open("w+") as said:
        began, standing = time.time(), children()  # the model's server is one
        cpu = cpu_seconds(standing)
        done = subprocess.run(command, env=environment, stdout=said, stderr=said, cwd=folder, check=False)
        ended = time.time()
        cpu = cpu_seconds(standing) - cpu
        said.seek(0)
        if done.returncode not in (0, 3):
            sys.exit(said.read()[-3000:])
    with urllib.request.urlopen(url) as answer:
        asked = json.load(answer)
    if len(asked) < count:
        sys.exit(f"{command[0]}: {len(asked)} of {count} programs were asked for")
    return Outcome(ended - began, count / (ended - asked[0]["at"]), cpu)


def peer(python: str, workload: tuple[str, str], count: int, folder: Path) -> Outcome:
    program, evaluator = written(workload, folder)
    with model(workload[0], folder) as url:
        (folder / "config.yaml").write_text(PEER_CONFIG.format(count=count, url=f"{url}/v1", checkpoint=count + 1))
        words = [str(program), str(evaluator), "--config", str(folder / "config.yaml"), "--output", str(folder / "out")]
        command = [python, "-m", "openevolve.cli", *words, "--iterations", str(count)]
        return timed(command, url, count, folder)


def ours(workload: tuple[str, str], count: int, folder: Path, isolation: str) -> Outcome:
    program, evaluator = written(workload, folder)
    with model(workload[0], folder) as url:
        words = [
            "--problem=script", f"--problem.program={program}", f"--problem.evaluator={evaluator}",
            "--problem.direction=max", "--problem.options.reply=program", f"--search.max_steps={count}",
            "llm.code.provider=openai", "llm.code.model=scripted", f"llm.code.base_url={url}/v1",
            "llm.code.price.input=1", "llm.code.price.output=2", "--agent.review=never", "--logging.view=quiet",
            "--logging.report=false", "--search.workers=2", f"--project.dir={folder / 'project'}",
            f"--problem.options.isolation={isolation}",
        ]  # fmt: skip
        outcome = timed([sys.executable, str(ROOT / "main.py"), "run", *words], url, count, folder)
    return replace(outcome, note=ranked(folder / "project"))


def written(workload: tuple[str, str], folder: Path) -> tuple[Path, Path]:
    """The user's own program and evaluator."""
    program, evaluator = folder / "initial_program.py", folder / "evaluator.py"
    program.write_text(f"# EVOLVE-BLOCK-START\n{workload[0].replace('START', '0.0')}# EVOLVE-BLOCK-END\n")
    evaluator.write_text(workload[1])
    return program, evaluator


def ranked(project: Path) -> str:
    """How the run's scores came about."""
    (store,) = project.glob("logs/*/run.db")
    with closing(sqlite3.connect(store)) as connection:
        rows = connection.execute("select metric_value, metric_source from nodes").fetchall()
    sources = [source for metric, source in rows if metric is not None]
    isolation = json.loads((store.parent / "files" / "isolation.json").read_text())["isolation"]
    wrong = [source for source in sources if source != "verified"]
    return f"{isolation}, {len(rows)} nodes, {len(sources)} ranked, {len(wrong)} of them not verified"


def installed(folder: Path) -> str:
    subprocess.run([sys.executable, "-m", "venv", str(folder / "peer")], check=True)
    python = str(folder / "peer" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", f"openevolve=={VERSION}"], check=True)
    return python


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--counts", default="50,200,1000")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peer", help="an interpreter that has OpenEvolve")
    options = parser.parse_args()
    adopt()
    for package in ROOT.glob("*/__init__.py"):  # as pip leaves those of OpenEvolve
        compileall.compile_dir(package.parent, quiet=2)
    with tempfile.TemporaryDirectory(prefix="swarm-peer-") as top:
        Path(top).chmod(0o755)
        python = options.peer or installed(Path(top))
        print(
            f"OpenEvolve {VERSION} without a sandbox, ours with one: medians of {options.repeats} in turns, 2 workers"
        )
        print(f"{'':43}{'OpenEvolve':>21}{'ours':>21}{'ours / theirs':>17}")
        print(f"{'evaluator':32}{'programs':>11}{2 * '      s     /s  CPU s'}{'rate':>9}{'CPU':>8}")
        for name, (workload, ways) in WORKLOADS.items():
            for count in map(int, options.counts.split(",")):
                compared(name, workload, ways, count, options.repeats, python, Path(top))


def compared(
    name: str, workload: tuple[str, str], ways: list[str], count: int, repeats: int, python: str, top: Path
) -> None:
    """A line for each way of ours, in turns with OpenEvolve."""

    def folder() -> Path:
        return Path(tempfile.mkdtemp(dir=top))

    theirs: list[Outcome] = []
    own: dict[str, list[Outcome]] = {way: [] for way in ways}
    for _ in range(repeats):
        theirs.append(peer(python, workload, count, folder()))
        for way in ways:
            own[way].append(ours(workload, count, folder(), way))
    for way in ways:
        told(name if way == "auto" else f"{name}, {way}", count, theirs, own[way])


def told(name: str, count: int, theirs: list[Outcome], own: list[Outcome]) -> None:
    figures = "".join(
        f"{median(run.seconds for run in runs):7.1f}{median(run.rate for run in runs):7.1f}"
        f"{median(run.cpu for run in runs):7.1f}"
        for runs in (theirs, own)
    )
    rate = median(one.rate / other.rate for one, other in zip(own, theirs, strict=True))
    cpu = median(one.cpu / other.cpu for one, other in zip(own, theirs, strict=True))
    print(f"{name:32}{count:11}{figures}{rate:9.2f}{cpu:8.2f}   {own[-1].note}", flush=True)


if __name__ == "__main__":
    main()
