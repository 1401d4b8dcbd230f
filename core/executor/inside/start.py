"""Starts the fork server: `python -s start.py CONTROL_FD`.

A few lines, since Python compiles anew whatever it is started with; what they import it compiles once.
"""

import importlib
import os
import socket
import sys

_folder = os.path.dirname(os.path.abspath(__file__))
_ours = os.path.basename(_folder)
sys.path[:] = [os.path.dirname(_folder), *(path for path in sys.path if path != _folder)]
importlib.import_module(_ours)
_hooks = importlib.import_module(f"{_ours}.fork_hooks").ForkHooks()  # before the modules that it listens to
candidate, fork_server, answering = (
    importlib.import_module(f"{_ours}.{name}") for name in ("candidate", "fork_server", "answering")
)
del sys.path[0]
sys.dont_write_bytecode = True  # beside the user's packages, or by a candidate

# The frames below a candidate are this line's and the two it calls: nothing of the server's is left on the stack.
candidate.run(*fork_server.main(socket.socket(fileno=int(sys.argv[1])), _hooks), answering.serve)
