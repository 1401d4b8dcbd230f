"""What goes on in a run now, by the small files that its process keeps: read while somebody looks, stored nowhere."""

from __future__ import annotations

import time
from pathlib import Path

from core.state.live_work import read_live_work
from dashboard.server.nodes import NODE_ID
from dashboard.server.schemas.runs import Live, LiveKind, LiveTail, OpenWork
from utils.regular_files import end_of

TAIL_BYTES = 8192
MOST = 64
"""Programs told at most."""
LIVE_KINDS: dict[str, LiveKind] = {".out": "output", ".reply": "reply"}
"""Ending of a file of the run's `live` folder → what it holds."""


def live_now(run_dir: Path) -> Live:
    """What each open program waits for or does, and what it said last. Names are node ids or they are passed over."""
    told, now = read_live_work(run_dir), time.time()
    if told is None:
        return Live(tails=_tails(run_dir))
    work = [
        OpenWork(node_id=node_id, state=one.state, seconds=max(0.0, now - one.since))
        for node_id, one in told.nodes.items()
        if NODE_ID.fullmatch(node_id)
    ]
    return Live(tails=_tails(run_dir), work=work[:MOST], running=told.running, waiting=told.waiting, doing=told.doing)


def _tails(run_dir: Path) -> list[LiveTail]:
    folder = run_dir / "live"
    try:
        paths = [] if folder.is_symlink() else sorted(folder.iterdir())
    except OSError:  # there is none, or the run ended while we looked
        paths = []
    tails = []
    for path in paths:
        if (kind := LIVE_KINDS.get(path.suffix)) and NODE_ID.fullmatch(path.stem):
            tails.append(_tail(path, kind))
    return [tail for tail in tails if tail is not None][:MOST]


def _tail(path: Path, kind: LiveKind) -> LiveTail | None:
    try:
        body, size = end_of(path, TAIL_BYTES)
    except OSError:
        return None  # committed while we looked, or no regular file
    text = body.decode("utf-8", "replace")
    return LiveTail(node_id=path.stem, kind=kind, text=text, cut=size > TAIL_BYTES, bytes=size)
