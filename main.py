"""Swarm-Evo's command line: `python main.py [VERB] …`. Composition starts in `cli/`."""

from __future__ import annotations

import sys

from cli.parser import main
from cli.process_exit import leave
from utils.collector import rare_collections

if __name__ == "__main__":
    with rare_collections():  # imports make few cycles, too
        leave(main(sys.argv[1:]))
