"""The example notebook: its cells run as a program anywhere, and as a notebook where nbclient is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from support.command_line import ROOT

NOTEBOOK = ROOT / "examples" / "evolve.ipynb"


def cells() -> list[str]:
    found = json.loads(NOTEBOOK.read_text())["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == "code"]


@pytest.mark.long
@pytest.mark.timeout(200)
def test_its_cells_run_one_after_the_other_in_a_folder_of_the_users(tmp_path):
    program = tmp_path / "cells.py"
    program.write_text("\n\n".join(cells()) + "\n\nprint(longer.facts['steps'], result.best.metric)\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, str(program)], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=190
    )
    assert done.returncode == 0, done.stderr
    steps, best = done.stdout.strip().splitlines()[-1].split()
    assert steps == "6" and float(best) > -1.4, "better than the guess that went in"


def test_it_is_kept_executed_and_shows_verdict_curve_program_and_table():
    outputs = [output for cell in json.loads(NOTEBOOK.read_text())["cells"] for output in cell.get("outputs", [])]
    page = "".join("".join(output.get("data", {}).get("text/html", "")) for output in outputs)
    assert "<svg" in page and "def guess(x)" in page and "your program" in page and "metrics.worst" in page
    assert any("image/png" in output.get("data", {}) for output in outputs), "the plot"
    assert not [output for output in outputs if output["output_type"] == "error"]


@pytest.mark.long
@pytest.mark.timeout(300)
def test_it_runs_as_a_notebook(tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=200, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("text/html" in output.get("data", {}) for output in shown)
