"""ShinkaEvolve: `initial.*` and `evaluate.py`, which is called with `--program_path` and `--results_dir`.

`evaluate.py` writes `metrics.json` (`combined_score`) and `correct.json` (`correct`); it imports the package `shinka`
unless it does without, so that must be installed where candidates run (`execution.python`).
"""

from __future__ import annotations

from pathlib import Path

from problems.neighbours.reading import Translation

NAME = "Shinka's task folder"
NEEDS = "Shinka's has initial.* and evaluate.py"
RESULTS = "results"


def recognises(folder: Path) -> bool:
    return (folder / "evaluate.py").is_file() and _program(folder) is not None


def read(folder: Path, metric: str | None, python: str) -> Translation:
    program = _program(folder)
    assert program is not None
    words = f"{python} evaluate.py --program_path {program.name} --results_dir {RESULTS}"
    return Translation(
        {
            "problem.kind": "command",
            "problem.source": str(folder),
            "problem.editable": program.name,
            "problem.eval": words,
            "problem.metric": metric or "combined_score",
            "problem.metric_from": f"json:{RESULTS}/metrics.json,json:{RESULTS}/correct.json",
            "problem.require": "correct==True",
            "problem.direction": "max",
            "problem.options": {},
        }
    )


def _program(folder: Path) -> Path | None:
    found = sorted(path for path in folder.glob("initial.*") if path.is_file())
    return next((path for path in found if path.suffix == ".py"), found[0] if found else None)
