"""Runs the cells of an exported notebook as Kaggle would."""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path

from support.competition_stand import LEARNERS
from support.forked_processes import Done, forked

CELL_OF_A_FILE = re.compile(r"^%%writefile (\S+)\n", re.ASCII)


def run_cells(
    page: Path,
    data: Path | None,
    working: Path | None,
    *,
    instead: str = "",
    at: Path | None = None,
    times: int = 1,
) -> Done:
    """The cells one after the other in a process without our modules.

    Args:
        data: what is named as the folder of the data; None for nothing.
        instead: lines that take the program's place.
        working: what is named as the folder to work in; None for nothing.
        at: the folder in which the notebook lies.
        times: how often all cells are run in that process.
    """
    lines = ["from pathlib import Path"]
    for cell in json.loads(page.read_text())["cells"]:
        written = CELL_OF_A_FILE.match(cell["source"])
        if cell["cell_type"] == "code":
            text = cell["source"]
            text = f"Path({written[1]!r}).write_text({instead or text[written.end() :]!r})" if written else text
            lines.append(text)
    found = {**os.environ, "PYTHONPATH": ""} | ({"SWARM_EVO_WORKING": str(working)} if working else {})
    found |= {"SWARM_EVO_DATA": str(data)} if data else {}
    with tempfile.TemporaryDirectory() as own:
        program = Path(own, "cells.py")
        program.write_text("\n".join(lines * times))
        return forked(*LEARNERS).run([str(program)], at or Path.cwd(), found, 200)
