"""A real dashboard server, and whether there is a browser for it."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from support.forked_processes import Running, forked

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dashboard" / "web" / "dist" / "index.html"
AXE = ROOT / "dashboard" / "web" / "node_modules" / "axe-core" / "axe.min.js"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") or ""

_LOADED = ("dashboard.server.app", "dashboard.server.serving", "uvicorn.lifespan.on", "uvicorn.loops.auto",
           "uvicorn.protocols.websockets.auto", "tests.support.forked_children")  # fmt: skip
"""What a server loads before it answers; and that what it starts of `main.py` is forked."""
_SERVE = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from dashboard.server.serving import serve
sys.exit(serve(Path({project!r}), "127.0.0.1", 0, {token!r}, say=lambda text: print(text, flush=True)))
"""


def missing() -> str:
    """Why browser tests cannot run here, or ''."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "playwright is not installed"
    if not CHROMIUM:
        return "no Chromium on this machine: apt-get install chromium"
    if not DIST.is_file():
        return "the page is not built: cd dashboard/web && npm ci && npm run build"
    return ""


def serve_code(project: Path, token: str | None = None) -> str:
    """A program that serves `project` at a free port of loopback and prints its address first."""
    return _SERVE.format(root=str(ROOT), project=str(project), token=token)


@contextmanager
def serving(project: Path, token: str | None = None) -> Iterator[tuple[str, Running]]:
    """The dashboard of `project` in a process of its own; yields `127.0.0.1:PORT` and the process."""
    ours, theirs = os.pipe()
    with TemporaryDirectory() as own, open(ours) as told:
        program = Path(own, "serve.py")
        program.write_text(serve_code(project, token))
        try:
            files = {1: theirs, 2: theirs}
            process = forked(*_LOADED, path=str(ROOT)).start([str(program)], Path.cwd(), os.environ, files)
        finally:
            os.close(theirs)
        with closing(process):
            try:
                yield told.readline().split("http://")[1].split("/")[0], process
                if (code := process.code(0)) is not None:
                    raise AssertionError(f"the server ended by itself with {code}: {told.read()}")
            finally:
                process.signal(signal.SIGINT)
                process.code(10)
