"""OpenEvolve's examples as they are: `python -m benchmarks.openevolve_examples FOLDER [NAME …] [--python PYTHON]`.

FOLDER is a checkout of OpenEvolve (github.com/algorithmicsuperintelligence/openevolve). Each example is searched for
two steps by one command line; the table tells what its own program scores, how that score is labelled, and where it
cannot run here, what it lacks.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 240


@dataclass(frozen=True)
class Row:
    """What became of an example."""

    name: str
    score: float | None
    """Of the example's own program."""
    source: str
    """`verified` or `unisolated`."""
    candidates: int
    """Programs of the search that were evaluated, whatever came of it."""
    said: str
    """Why there is no score, or why it is unisolated."""
    not_read: int
    """Keys of its configuration that have no counterpart."""


def examples(folder: Path) -> list[Path]:
    """Folders with an evaluator and a program."""
    found = (path.parent for path in (folder / "examples").rglob("evaluator.py"))
    return sorted(path for path in found if list(path.glob("init*_pro*.*")))


def run(example: Path, name: str, *more: str, seconds: float = SECONDS) -> Row:
    """Search an example for two steps, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="openevolve-") as work:
        words = [
            sys.executable, str(ROOT / "main.py"), "run", "--json", "--problem", "script", f"--problem.path={example}",
            "--search.max_steps=2", "--search.batch=1", "--search.workers=1", "--logging.report=false", *more,
        ]  # fmt: skip
        try:
            done = subprocess.run(words, cwd=work, capture_output=True, text=True, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            return Row(name, None, "", 0, f"not done after {seconds:g} s", 0)
        return read(name, done, Path(work))


def read(name: str, done: subprocess.CompletedProcess[str], work: Path) -> Row:
    left = re.findall(r"not read: (.*)", done.stderr)
    not_read = len(left[0].split(", ")) if left else 0
    try:
        found = json.loads(done.stdout)
    except ValueError:
        return Row(name, None, "", 0, _last(done.stderr), not_read)
    first = next((row for row in found["baselines"] if row.get("own")), {})
    searched = [node for node in found["nodes"] if node["operator"] != "baseline" and not node["duplicate_of"]]
    reason = first.get("message") or ""
    for path in work.glob("logs/*/files/isolation.json"):
        reason = reason or json.loads(path.read_text())["reason"]
    return Row(name, first.get("metric"), found["metric_source"] or "", len(searched), reason, not_read)


def _last(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="examples; all if absent")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    args, more = parser.parse_known_args()
    root = args.folder.resolve() / "examples"
    print("| example | its own program | label | candidates | keys not read | |\n|---|---|---|---|---|---|", flush=True)
    for example in examples(args.folder.resolve()):
        name = example.relative_to(root).as_posix()
        if args.names and name not in args.names:
            continue
        row = run(example, name, *more, seconds=args.seconds)
        score = "–" if row.score is None else f"{row.score:.6g}"
        cells = (row.name, score, row.source or "–", row.candidates, row.not_read, row.said)
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()
