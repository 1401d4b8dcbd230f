"""First program of an interpreter in bwrap's namespaces: takes the job from descriptor 4, becomes the candidate."""

from __future__ import annotations

import importlib
import json
import os
import sys

if __package__ in (None, ""):
    _folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [os.path.dirname(_folder), *(path for path in sys.path if path != _folder)]
    __package__ = os.path.basename(_folder)
    importlib.import_module(__package__)
    for _name in ("candidate", "answering", "packed", "plain", "fork_server"):
        importlib.import_module(f"{__package__}.{_name}")
    del sys.path[0]

from . import answering, candidate, fork_server, messages, mounts

if __name__ == "__main__":
    with open(4, encoding="utf-8") as _file:
        _task = messages.from_plain(json.load(_file))
    assert isinstance(_task, messages.BubbleJob)
    _layout = mounts.Layout("", _task.read_only, _task.devices)
    fork_server.keep_path(_layout.read_only)
    candidate.run_fresh(_task.job, _layout, answering.serve)
