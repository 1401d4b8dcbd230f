"""AIDE, OpenEvolve, ShinkaEvolve and ours: the same replies of one scripted model server, in turns on one machine.

    python -m benchmarks.peers [--counts 10,100] [--repeats 3] [--only ours,openevolve] [--env FOLDER]

Each neighbour is installed from PyPI into an environment of its own below FOLDER (kept when it is given). All get the
same evaluator but AIDE, which has none: its programs print their score, and a model reads it. Settings are the
neighbours' own, but that two programs run at once and nothing but programs (and AIDE's reviews) is asked for. ours runs
programs in a sandbox, apart from the evaluator; the others beside it, unconfined.

rate     programs a second, from the first request to the end of the process
start    seconds until that first request
CPU      of all its processes, milliseconds a program
disk     KB a program that it leaves behind
asked    requests and thousand characters of prompts a program, and the share of these with which an earlier request
         began too; dollars at $1 and $2 a million tokens, and what is left of them where such beginnings cost a tenth
kill     killed by SIGKILL at half of the programs and begun again its own way: programs asked for beyond those wanted
forged   its best score where every program changes what the evaluator computes with: 0 is the highest that is true
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks._orphans import adopt, children, cpu_seconds
from benchmarks.openevolve import ONE_CALL, PEER_CONFIG, ROOT, VERSION, model, written

HERE = Path(__file__).resolve().parent
PRINTS = "start = START\nprint('score:', -abs(1.0 + start - 3.0))\n"
FORGES = "import builtins\nbuiltins.abs = lambda number: -1e6\n\n\ndef f(x):\n    return x + START\n"
PRINTS_ANY = "start = START\nprint('score:', 1e6)\n"
FORGED = 1e5
CHECKPOINT = 100
"""Of OpenEvolve: its default."""


@dataclass(frozen=True, slots=True)
class Peer:
    """One framework.

    Args:
        package: what pip installs; "" for ours.
        command: (interpreter, folder, url, programs) → the words that run it.
        again: the same after a kill; None: there is no way, it begins anew.
        best: folder → the best score in its own records.
        left: the folder of what it leaves behind, below the task's.
        prints: its programs print their own score.
    """

    package: str
    command: Callable[[str, Path, str, int], list[str]]
    best: Callable[[Path], float | None]
    left: str
    again: Callable[[str, Path, str, int], list[str]] | None = None
    prints: bool = False


# ------------------------------------------------------------ how each is run


def _ours(python: str, folder: Path, url: str, count: int) -> list[str]:
    words = [
        f"--problem.program={folder / 'initial_program.py'}", f"--problem.evaluator={folder / 'evaluator.py'}",
        "--problem=script", "--problem.direction=max", "--problem.options.reply=program", f"--search.max_steps={count}",
        "llm.code.provider=openai", "llm.code.model=scripted", f"llm.code.base_url={url}/v1", "llm.code.price.input=1",
        "llm.code.price.output=2", "--agent.review=never", "--agent.ideas=never", "--logging.view=quiet",
        "--logging.report=false", "--search.workers=2", f"--project.dir={folder / 'out'}",
    ]  # fmt: skip
    return [python, str(ROOT / "main.py"), "run", *words]


def _ours_again(python: str, folder: Path, url: str, count: int) -> list[str]:
    return [python, str(ROOT / "main.py"), "resume", "latest", f"--project.dir={folder / 'out'}"]


def _ours_best(folder: Path) -> float | None:
    words = [sys.executable, str(ROOT / "main.py"), "show", "latest", "--json", f"--project.dir={folder / 'out'}"]
    found = json.loads(subprocess.run(words, capture_output=True, check=True, text=True).stdout)["best_metric"]
    return None if found is None else float(found)


def _openevolve(python: str, folder: Path, url: str, count: int) -> list[str]:
    (folder / "config.yaml").write_text(PEER_CONFIG.format(count=count, url=f"{url}/v1", checkpoint=CHECKPOINT))
    words = [str(folder / name) for name in ("initial_program.py", "evaluator.py")]
    words += ["--config", str(folder / "config.yaml"), "--output", str(folder / "out"), "--iterations", str(count)]
    return [python, "-m", "openevolve.cli", *words]


def _openevolve_again(python: str, folder: Path, url: str, count: int) -> list[str]:
    found = sorted((folder / "out" / "checkpoints").glob("checkpoint_*"), key=lambda one: int(one.name.split("_")[1]))
    done = int(found[-1].name.split("_")[1]) if found else 0
    words = [*_openevolve(python, folder, url, count)[:-1], str(count - done)]
    return [*words, "--checkpoint", str(found[-1])] if found else words


def _openevolve_best(folder: Path) -> float | None:
    found = folder / "out" / "best" / "best_program_info.json"
    return float(json.loads(found.read_text())["metrics"]["combined_score"]) if found.is_file() else None


def _shinka(python: str, folder: Path, url: str, count: int) -> list[str]:
    shutil.copy(HERE / "_peer_evaluate.py", folder / "evaluate.py")
    return [python, str(HERE / "_peer_shinka.py"), str(folder), f"{url}/v1", str(count)]


def _shinka_best(folder: Path) -> float | None:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(folder / "out" / "programs.sqlite")) as store:
        (found,) = store.execute("SELECT max(combined_score) FROM programs WHERE correct").fetchone()
    return None if found is None else float(found)


def _aide(python: str, folder: Path, url: str, count: int) -> list[str]:
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data" / "note.txt").write_text("nothing\n")
    words = [
        f"data_dir={folder / 'data'}", "goal=maximize the score", "eval=score", f"agent.steps={count}",
        "agent.code.model=scripted", "agent.feedback.model=scripted", "generate_report=False",
        "agent.data_preview=False", "exec.timeout=60", f"log_dir={folder / 'out' / 'logs'}",
        f"workspace_dir={folder / 'out' / 'workspaces'}",
    ]  # fmt: skip
    return [str(Path(python).parent / "aide"), *words]


def _aide_best(folder: Path) -> float | None:
    best = None
    for journal in folder.glob("out/logs/*/journal.json"):
        for node in json.loads(journal.read_text())["nodes"]:
            value = (node.get("metric") or {}).get("value")
            best = value if value is not None and (best is None or value > best) else best
    return best


PEERS = {
    "ours": Peer("", _ours, _ours_best, "out", _ours_again),
    "openevolve": Peer(f"openevolve=={VERSION}", _openevolve, _openevolve_best, "out", _openevolve_again),
    "shinka": Peer("shinka-evolve==0.0.7", _shinka, _shinka_best, "out", _shinka),
    "aide": Peer("aideml", _aide, _aide_best, "out", prints=True),
}


# ------------------------------------------------------------ one run


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run took, and what it asked for."""

    rate: float
    start: float
    cpu_ms: float
    disk_kb: float
    requests: float
    characters: float
    known: float
    """Of these, with which an earlier request began as well."""
    best: float | None


def run_once(peer: Peer, python: str, count: int, program: str) -> Outcome:
    """A whole run for `count` programs. Exits with what it printed if it fails."""
    with _task(peer, program) as (folder, url):
        began, standing = time.time(), children()  # the model's server is one
        cpu = cpu_seconds(standing)
        process = _started(peer.command(python, folder, url, count), folder, url)
        _waited(process, folder)
        ended = time.time()
        cpu = cpu_seconds(standing) - cpu
        asked = _asked(url)
        size = sum(path.stat().st_size for path in (folder / peer.left).rglob("*") if path.is_file())
        characters, known = (sum(one[of] for one in asked) for of in ("characters", "known"))
        return Outcome(
            count / (ended - asked[0]["at"]), asked[0]["at"] - began, 1000 * cpu / count, size / 1000 / count,
            len(asked) / count, characters / count, known / count, peer.best(folder),
        )  # fmt: skip


def asked_after_a_kill(peer: Peer, python: str, count: int, program: str) -> int:
    """Programs asked for in all, of which `count` were wanted: killed at half of them, then begun again."""
    with _task(peer, program, seconds=0.1) as (folder, url):
        process = _started(peer.command(python, folder, url, count), folder, url)
        while process.poll() is None and _programs(url) < count // 2:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        words = (peer.again or peer.command)(python, folder, url, count)
        _waited(_started(words, folder, url), folder)
        return _programs(url)


@contextmanager
def _task(peer: Peer, program: str, seconds: float = 0.0) -> Iterator[tuple[Path, str]]:
    """A folder with program and evaluator, and the address of a server that takes so long for an answer."""
    folder = Path(tempfile.mkdtemp(prefix="peers-"))
    try:
        written(ONE_CALL, folder)
        block = program if peer.prints else f"# EVOLVE-BLOCK-START\n{program}# EVOLVE-BLOCK-END\n"
        with model(block, folder, seconds) as url:
            yield folder, url
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _started(words: Sequence[str], folder: Path, url: str) -> subprocess.Popen[str]:
    environment = dict(os.environ) | {
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": f"{url}/v1",
        "PYTHONWARNINGS": "ignore",
    }
    with (folder / "said").open("a") as said:
        return subprocess.Popen(
            words, cwd=folder, env=environment, stdout=said, stderr=said, stdin=subprocess.DEVNULL,
            start_new_session=True, text=True,
        )  # fmt: skip


def _waited(process: subprocess.Popen[str], folder: Path) -> None:
    if process.wait() not in (0, 3):
        sys.exit(f"{process.args}: exit code {process.returncode}\n{(folder / 'said').read_text()[-3000:]}")


def _asked(url: str) -> list[dict[str, Any]]:
    with urllib.request.urlopen(url) as answer:
        found: list[dict[str, Any]] = json.load(answer)
    return found


def _programs(url: str) -> int:
    return sum(bool(one["program"]) for one in _asked(url))


# ------------------------------------------------------------ the table


def installed(peer: Peer, name: str, folder: Path) -> str:
    """An interpreter that has it."""
    if not peer.package:
        return sys.executable
    python = folder / name / "bin" / "python"
    if not python.is_file():
        print(f"installing {peer.package}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(folder / name)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", peer.package], check=True)
    return str(python)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--counts", default="10,100")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default=",".join(PEERS))
    parser.add_argument("--env", type=Path)
    options = parser.parse_args()
    adopt()
    folder = options.env or Path(tempfile.mkdtemp(prefix="peers-env-"))
    pythons = {name: installed(PEERS[name], name, folder) for name in options.only.split(",")}
    try:
        for count in [int(number) for number in options.counts.split(",") if number]:
            _print_rates(pythons, count, options.repeats)
        _print_faults(pythons)
    finally:
        if options.env is None:
            shutil.rmtree(folder, ignore_errors=True)


def _print_rates(pythons: dict[str, str], count: int, repeats: int) -> None:
    found: dict[str, list[Outcome]] = {name: [] for name in pythons}
    for _ in range(repeats):
        for name, python in pythons.items():
            peer = PEERS[name]
            found[name].append(run_once(peer, python, count, PRINTS if peer.prints else ONE_CALL[0]))
            print(f"{name}, {count} programs: {found[name][-1]}", file=sys.stderr)
    print(f"{count} programs, medians of {repeats} in turns, 2 workers")
    head = f"{'':12s}{'rate/s':>8s}{'to ours':>9s}{'start s':>9s}{'CPU ms':>8s}{'disk KB':>9s}"
    print(f"{head}{'requests':>10s}{'kchars':>8s}{'known':>7s}{'$ for 1000':>12s}{'cached':>8s}")
    mine = median(one.rate for one in found["ours"]) if "ours" in found else None
    for name, runs in found.items():
        of = {
            part: median(getattr(one, part) for one in runs) for part in Outcome.__dataclass_fields__ if part != "best"
        }
        dollars = 1000 * (of["characters"] / 4 + 10 * 2 * of["requests"]) / 1e6
        saved = 1000 * 0.9 * of["known"] / 4 / 1e6
        ratio = f"{of['rate'] / mine:9.2f}" if mine else ""
        print(
            f"{name:12s}{of['rate']:8.1f}{ratio}{of['start']:9.1f}{of['cpu_ms']:8.0f}{of['disk_kb']:9.1f}"
            f"{of['requests']:10.2f}{of['characters'] / 1000:8.1f}{of['known'] / of['characters']:7.0%}"
            f"{dollars:12.2f}{dollars - saved:8.2f}"
        )
    print()


def _print_faults(pythons: dict[str, str], count: int = 40) -> None:
    print(f"{'':12s}{'asked for after a kill at ' + str(count // 2):>30s}   best score of programs that forge it")
    for name, python in pythons.items():
        peer = PEERS[name]
        asked = asked_after_a_kill(peer, python, count, PRINTS if peer.prints else ONE_CALL[0])
        best = run_once(peer, python, 8, PRINTS_ANY if peer.prints else FORGES).best
        said = "none" if best is None else f"{best:.6g}, {'believed' if best > FORGED else 'not believed'}"
        print(f"{name:12s}{f'{asked} of {count}':>30s}   {said}")


if __name__ == "__main__":
    main()
