"""What Swarm-Evo shows of a program: to people in the terminal and on the page, to models in the next prompt."""

from __future__ import annotations

import io
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path


def views_of(root: Path, run: str, node_id: str) -> dict[str, str]:
    """What people and models are shown of a program: terminal, page, prompt → the text."""
    report, played = root / "work" / "report.html", root / "work" / "replay.txt"
    if not report.exists():  # both show all programs of the run
        said("report", run, f"--out={report}", at=root)
        played.write_text(said("replay", run, "--speed=1000", at=root), encoding="utf-8")
    return {
        "terminal": said("show", run, node_id, at=root) + played.read_text(encoding="utf-8"),
        "page": report.read_text(encoding="utf-8"),
        "prompt": said("step", run, f"--node={node_id}", "--operator=debug", "--until=prompt", at=root),
    }


def said(*words: str, at: Path) -> str:
    """What a verb prints, without a process of its own."""
    from cli.parser import main
    from utils import logger_system

    out = io.StringIO()
    with chdir(at), redirect_stdout(out), redirect_stderr(out):
        try:
            main(words)
        finally:
            logger_system.close()
    return out.getvalue()
