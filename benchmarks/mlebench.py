"""python -m benchmarks.mlebench FOLDER: which of MLE-bench's competitions work here, as a table.

FOLDER is `mlebench/competitions` of a checkout. Each competition's `grade.py` and `prepare.py` are imported as a run
would, in a process of their own: `runs` means that both need nothing more than the competition's data.
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

IMPORTED = """
import sys
from pathlib import Path
import yaml
from problems.competition.grader.shim import import_function
from problems.competition.grader.stand_ins import WRITTEN, _Absent
folder = Path(sys.argv[1])
config = yaml.safe_load((folder / "config.yaml").read_text())
for what, name in (("scoring", config["grader"]["grade_fn"]), ("preparing", config["preparer"])):
    before = set(sys.modules)
    import_function(folder, name)
    absent = {n.partition(".")[0] for n in set(sys.modules) - before if isinstance(sys.modules[n], _Absent)}
    for package in sorted(absent - set(WRITTEN)):
        print(f"{what} needs the package {package}")
"""


def outcome(folder: Path) -> str:
    """`runs`, what it needs, or why it cannot."""
    done = subprocess.run([sys.executable, "-c", IMPORTED, str(folder)], capture_output=True, text=True, timeout=300)
    if done.returncode:
        return f"cannot: {done.stderr.strip().splitlines()[-1]}"
    return "; ".join(done.stdout.split("\n")).strip("; ") or "runs"


def main() -> int:
    """Print the table; exit 1 if one cannot be imported."""
    folders = sorted(path.parent for path in Path(sys.argv[1]).glob("*/grade.py"))
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(outcome, folders))
    width = max(len(folder.name) for folder in folders)
    for folder, told in zip(folders, found, strict=True):
        print(f"{folder.name:{width}}  {told}")
    kinds = ("runs", "needs", "cannot")
    counts = [sum(kind in told.split()[:2] or told.startswith(kind) for told in found) for kind in kinds]
    print(", ".join(f"{count} {kind}" for count, kind in zip(counts, kinds, strict=True)))
    return 1 if counts[2] else 0


if __name__ == "__main__":
    sys.exit(main())
