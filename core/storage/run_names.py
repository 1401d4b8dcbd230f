"""What a run is called, and lies: the name of its folder, as commands, addresses and tickets hold it."""

from __future__ import annotations

import os
import re

ALLOWED = "a run's name has letters, digits and . _ - alone, . and - not first, 128 at most"

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")


def may_be_run(name: str) -> bool:
    """True for what a run could be called, now or later: a word that needs quotes nowhere and leads nowhere."""
    return _NAME.fullmatch(name) is not None


def stays(folder: str) -> bool:
    """False for a link that leads to a folder of another name, or that stays where it lies.

    A run that was moved to another disk is followed there. Any other link may have come with a stranger's files, who
    cannot know what runs are called: it would show them another project's. Those beside the runs lead into the newest.
    """
    if not os.path.islink(folder):
        return True
    beside, there = os.path.realpath(os.path.dirname(folder)) + os.sep, os.path.realpath(folder)
    return not there.startswith(beside) and os.path.basename(there) == os.path.basename(folder)
