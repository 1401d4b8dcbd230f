"""`python -m swarm_evo` and the console script: starts main.py with the application's folder first on the path."""

from __future__ import annotations

import runpy
import sys

from swarm_evo.app import app_dir


def main() -> None:
    """Run the command line. Never returns: the exit code is the process's."""
    folder = str(app_dir())
    is_script = sys.argv[0] != __file__ and not sys.flags.safe_path  # of `-m`, the package has left its folder out
    here = {"", ".", folder, *(sys.path[:1] if is_script else [])}
    sys.path[:] = [folder, *(entry for entry in sys.path if entry not in here)]
    runpy.run_path(f"{folder}/main.py", run_name="__main__")


if __name__ == "__main__":
    main()
