"""`python -m benchmarks [NAME …]`: run the benchmarks and write what they print to benchmarks/README.md."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
LIMIT_SECONDS = 1800
HEAD = """# Benchmarks

Every figure below was printed by the command above it, on the machine that it names. `make bench` writes this page
anew; `make bench ARGS="NAME …"` runs some and keeps the rest. Machines are shared and noisy: read medians and ratios.
"""


def names() -> list[str]:
    return sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_"))


def machine() -> str:
    model = ""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    except OSError:
        pass
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{model or platform.machine()}, {cores} cores, {platform.system()}, Python {platform.python_version()}"


def run(name: str) -> str:
    """The section of one benchmark."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}"],
        cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False,
    )  # fmt: skip
    seconds = time.perf_counter() - started
    verdict = "" if done.returncode == 0 else f" **ended with exit code {done.returncode}**"
    told = done.stdout if done.returncode == 0 else done.stdout + done.stderr[-4000:]  # progress goes to stderr
    output = told.strip("\n").rstrip().replace(str(ROOT), ".")
    day = f"{time.gmtime().tm_year}-{time.gmtime().tm_mon:02d}-{time.gmtime().tm_mday:02d}"
    return (
        f"## {name}\n\n`python -m benchmarks.{name}` ({seconds:.0f} s, {day}, {machine()}){verdict}\n\n"
        f"```text\n{output}\n```\n"
    )


def sections(page: str) -> dict[str, str]:
    """Name → section of an earlier page."""
    parts = page.split("\n## ")[1:]
    return {part.splitlines()[0].strip(): f"## {part.rstrip()}\n" for part in parts}


def main(words: list[str]) -> int:
    page = HERE / "README.md"
    wanted = words or names()
    unknown = sorted(set(wanted) - set(names()))
    if unknown:
        print(f"unknown benchmark '{unknown[0]}'; allowed: {', '.join(names())}", file=sys.stderr)
        return 2
    kept = sections(page.read_text(encoding="utf-8")) if page.is_file() else {}
    for name in wanted:
        print(f"{name} …", flush=True)
        kept[name] = run(name)
        ordered = [kept[key] for key in sorted(kept) if key in names()]
        page.write_text("\n".join([HEAD, *ordered]), encoding="utf-8")
    print(page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
