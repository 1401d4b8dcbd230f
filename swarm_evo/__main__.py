"""`python -m swarm_evo` and the console script: starts main.py with the application's folder first on the path."""

from __future__ import annotations

import runpy
import sys

from swarm_evo.app import app_dir


def main() -> None:
    """Run the command line. Never returns: the exit code is the process's."""
    folder = str(app_dir())
    started_in = [] if sys.flags.safe_path else sys.path[:1]  # of `-m` the current folder, with whatever modules
    here = {"", ".", folder, *started_in}
    sys.path[:] = [folder, *(entry for entry in sys.path if entry not in here)]
    sys.argv[0] = "swarm-evo"
    runpy.run_path(f"{folder}/main.py", run_name="__main__")


if __name__ == "__main__":
    main()
