"""The scorer of `benchmarks.peers` in ShinkaEvolve's form: `evaluate.py --program_path FILE --results_dir FOLDER`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from evaluator import evaluate  # type: ignore[import-not-found]

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program_path")
    parser.add_argument("--results_dir", type=Path)
    options = parser.parse_args()
    found = evaluate(options.program_path)
    options.results_dir.mkdir(parents=True, exist_ok=True)
    (options.results_dir / "metrics.json").write_text(json.dumps({**found, "public": {}, "private": {}}))
    (options.results_dir / "correct.json").write_text(json.dumps({"correct": True, "error": None}))
