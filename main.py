"""Swarm-Evo's command line: `python main.py [VERB] …`. Composition starts in `cli/`."""

from __future__ import annotations

import sys

from cli.parser import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
