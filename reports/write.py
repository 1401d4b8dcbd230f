"""The child process of `reports.child`: `python -P reports/write.py RUN_DIR`."""

from __future__ import annotations

import sys
from pathlib import Path


def main(run_dir: Path) -> int:
    """Report first: it needs no matplotlib, so that a broken plot costs only the plot."""
    from reports.facts import read_facts
    from reports.html import write_facts

    facts = read_facts(run_dir)
    print(write_facts(facts, run_dir / "report.html"))
    from reports.plots import write_plots

    for path in write_plots(facts, run_dir):
        print(path)
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from utils.lifeline import die_with_parent

    die_with_parent()  # before anything slow is loaded
    sys.exit(main(Path(sys.argv[1])))
