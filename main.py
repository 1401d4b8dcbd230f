"""Swarm-Evo's command line: `python main.py [VERB] …`. Composition starts in `cli/`."""

from __future__ import annotations

import signal
import sys

signal.signal(signal.SIGINT, signal.SIG_DFL)  # while modules are loaded there is nothing to end in good order

from cli.parser import main  # noqa: E402
from cli.process_exit import leave  # noqa: E402
from utils.collector import rare_collections  # noqa: E402

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with rare_collections():  # imports make few cycles, too
        leave(main(sys.argv[1:]))
