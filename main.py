"""Swarm-Evo's command line: `python main.py [VERB] …`. Composition starts in `cli/`."""

import os
import sys

if sys.version_info < (3, 11):  # noqa: UP036 - read by whatever `python` there is; the rest of us is not
    told = f"Python 3.11 or newer is needed, and {sys.executable} is {sys.version.split()[0]}"
    sys.stderr.write(
        f"swarm-evo: {told}; in a checkout: make install PYTHON=python3.12, then .venv/bin/python main.py\n"
    )
    sys.exit(2)
if sys.flags.safe_path:  # `-P`, `-I`, PYTHONSAFEPATH: then a script's own folder is not on the path
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# What PYTHONPATH names goes before Python's own modules: somebody's `queue.py` would be taken for the library's.
_LIBRARY = os.path.dirname(os.__file__)
sys.path[1:] = sorted(sys.path[1:], key=lambda place: place not in (_LIBRARY, f"{_LIBRARY}/lib-dynload"))

import json  # noqa: E402
import signal  # noqa: E402

signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # whoever starts us may ignore it: no child could be waited for
if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN or os.getsid(0) == os.getpid():
    # While modules are loaded there is nothing to end in good order. A script's background job is deaf to a Ctrl-C that
    # is meant for another; who leads a session of its own hears none but those that are meant for it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from cli.parser import main  # noqa: E402
from cli.process_exit import leave  # noqa: E402
from runs.interrupts import interrupt_on_terminate  # noqa: E402
from utils.collector import rare_collections  # noqa: E402


def handed_words() -> list[str]:
    """Settings from the Python front that started us (`swarm_evo/child.py`): what we start does not find them."""
    found: list[str] = json.loads(os.environ.pop("SWARM_EVO_WORDS", "[]"))
    return found


if __name__ == "__main__":
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupt_on_terminate()
    with rare_collections():  # imports make few cycles, too
        leave(main([*sys.argv[1:], *handed_words()]))
