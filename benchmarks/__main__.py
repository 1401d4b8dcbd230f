"""`python -m benchmarks [NAME …]`: run the benchmarks and write what they print to benchmarks/README.md, in place
of the sections' figures; what somebody wrote before the sections and behind the figures stays.

`python -m benchmarks --check [NAME …]`: run the short ones, compare them with that page, and end with 1 if something
has become slower.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from statistics import fmean

from benchmarks import _check

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
LIMIT_SECONDS = 1800


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
    """The section of one benchmark, with what the machine was worth before and after it."""
    before = _check.calibration()
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}"],
        cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False,
    )  # fmt: skip
    seconds = time.perf_counter() - started
    worth = _check.Calibration(*map(fmean, zip(before, _check.calibration(), strict=True)))
    verdict = "" if done.returncode == 0 else f" **ended with exit code {done.returncode}**"
    told = done.stdout if done.returncode == 0 else done.stdout + done.stderr[-4000:]  # progress goes to stderr
    output = told.strip("\n").rstrip().replace(str(ROOT), ".")
    day = f"{time.gmtime().tm_year}-{time.gmtime().tm_mon:02d}-{time.gmtime().tm_mday:02d}"
    return (
        f"## {name}\n\n`python -m benchmarks.{name}` ({seconds:.0f} s, {day}, {machine()}, "
        f"{worth}){verdict}\n\n"
        f"```text\n{output}\n```\n"
    )


def head(page: str) -> str:
    """What stands before the sections."""
    return page.partition("\n## ")[0].rstrip() + "\n"


def sections(page: str) -> dict[str, str]:
    """Name → section of an earlier page."""
    parts = page.split("\n## ")[1:]
    return {part.splitlines()[0].strip(): f"## {part.rstrip()}\n" for part in parts}


def notes(section: str) -> str:
    """What somebody wrote behind the figures of an earlier page; '' for nothing."""
    return section.partition("```text\n")[2].partition("\n```\n")[2].strip("\n")


def check(wanted: list[str], kept: dict[str, str]) -> int:
    """0 if nothing that the page knows is slower now, 1 otherwise."""
    print(f"{'':40s} {'page':>10s} {'now':>10s} {'times':>8s}   (times: as long as it should take on this machine)")
    slower = False
    for name in wanted:
        before = kept.get(name, "")
        if _check.calibration_of(before) is None:
            print(f"{name}: the page has no calibration for it; `python -m benchmarks {name}` writes it anew")
            continue
        for change in _check.checked(name, before, lambda name=name: run(name)):  # type: ignore[misc]
            print(change, flush=True)
            slower = slower or change.is_slower
    return int(slower)


def main(words: list[str]) -> int:
    page = HERE / "README.md"
    checks = "--check" in words
    known = sorted(_check.FIGURES) if checks else names()
    wanted = [word for word in words if word != "--check"] or known
    unknown = sorted(set(wanted) - set(known))
    if unknown:
        print(f"unknown benchmark '{unknown[0]}'; allowed: {', '.join(known)}", file=sys.stderr)
        return 2
    before = page.read_text(encoding="utf-8") if page.is_file() else "# Benchmarks"
    kept = sections(before)
    if checks:
        return check(wanted, kept)
    for name in wanted:
        print(f"{name} …", flush=True)
        written = notes(kept.get(name, ""))
        kept[name] = run(name) + (f"\n{written}\n" if written else "")
        ordered = [kept[key] for key in sorted(kept) if key in names()]
        page.write_text("\n".join([head(before), *ordered]), encoding="utf-8")
    print(page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
