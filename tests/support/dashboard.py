"""A real dashboard server, and whether there is a browser for it."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dashboard" / "web" / "dist" / "index.html"
AXE = ROOT / "dashboard" / "web" / "node_modules" / "axe-core" / "axe.min.js"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") or ""

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
def serving(project: Path, token: str | None = None) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The dashboard of `project` in a process of its own; yields `127.0.0.1:PORT` and the process."""
    process = subprocess.Popen(
        [sys.executable, "-c", serve_code(project, token)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split("http://")[1].split("/")[0], process
        if process.poll() is not None:
            raise AssertionError(f"the server ended by itself with {process.returncode}: {process.stdout.read()}")
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()
