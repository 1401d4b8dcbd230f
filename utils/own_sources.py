"""Which version of us runs: its number, and the content of a module of ours with all that it imports of ours."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from utils.packages import versions

ROOT = Path(__file__).resolve().parent.parent
_OURS = "agents|core|problems|runs|utils"
_IMPORT = re.compile(
    rf"^[ \t]*(?:from ((?:{_OURS})\b[\w.]*) import (\([^)]*\)|[^\n]*)|import ((?:{_OURS})\b[\w.]*))", re.MULTILINE
)
_VERSION = re.compile(r'^version = "([^"]+)"', re.MULTILINE)


def product_version() -> str:
    """`0.1.0`: of the installed package, else what the checkout says of itself; '' where neither is there."""
    installed = versions(("swarm-evo",)).get("swarm-evo")
    if installed is not None:
        return installed
    try:
        found = _VERSION.search((ROOT / "pyproject.toml").read_text("utf-8"))
    except OSError:
        return ""
    return found[1] if found else ""


def sources_digest(module: str) -> str:
    """`sha256:…` over a loaded module's file and every file of ours that it imports, directly or by others.

    Imports inside functions count; comments do, too. '' where the module has no file that can be read.
    """
    file = getattr(sys.modules.get(module), "__file__", None)
    if not file or not Path(file).is_file():
        return ""
    found: dict[str, bytes] = {}
    waiting = [Path(file)]
    while waiting:
        path = waiting.pop()
        name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
        if name not in found:
            found[name] = path.read_bytes()
            waiting += _imported(found[name].decode("utf-8", "replace"))
    digest = sha256()
    for name, content in sorted(found.items()):
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return f"sha256:{digest.hexdigest()[:32]}"


def _imported(text: str) -> Iterator[Path]:
    for package, names, module in _IMPORT.findall(text):
        modules = [module] if module else [package, *(f"{package}.{name}" for name in re.findall(r"\w+", names))]
        for name in modules:
            place = ROOT / name.replace(".", "/")
            yield from (path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file())
