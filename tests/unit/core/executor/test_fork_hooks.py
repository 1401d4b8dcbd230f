"""What modules ask to be done after a fork waits until it is given back; what others ask for does not."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import os, types
from core.executor.inside.fork_hooks import ForkHooks

def asks(module, word):
    def hook():
        print(word, end=" ", flush=True)
    hook.__module__ = module
    os.register_at_fork(after_in_child=hook)

def fork():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    print("|", end=" ", flush=True)

hooks = ForkHooks(frozenset({"locks"}))
asks("locks", "kept")
asks("another", "always")
hooks.end_listening()
asks("locks", "late")
fork()
hooks.give_back()
fork()
hooks.put_off()
fork()
"""


def test_what_is_kept_is_done_while_it_is_given_back():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.split(" | ")[:3] == ["always late", "kept always late", "always late"]
