"""The view of a command that writes programs: its own folder, its program, what the user names, and the network."""

from __future__ import annotations

import glob
import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from core.contracts import GATEWAY_PORT, WRITER_DISK_MB, WRITER_FOLDER, Confined
from core.executor.inside import mounts
from core.executor.uids import UidPool
from core.executor.workspace import remove_tree
from utils.errors import NoSandboxError
from utils.scratch_folders import scratch_folder

_SCRIPT = Path(__file__).parent / "inside" / "writer.py"
_APP = str(Path(__file__).resolve().parents[2])
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = (
    "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "alternatives", "resolv.conf", "hosts", "host.conf",
    "nsswitch.conf", "gai.conf", "services", "protocols", "ssl", "pki", "ca-certificates", "ca-certificates.conf",
    "passwd", "group",
)  # fmt: skip
"""What programs need of /etc to find names, certificates and the time."""
_INSTALLED = ("bin", "lib", "lib64", "pyvenv.cfg")
"""What belongs to an installed program below its prefix."""
_MARKS = ("pyvenv.cfg", "conda-meta", "lib/node_modules")
CLOSES_NETWORK = ("warm", "bubblewrap")
"""Tiers that can take all of the network from a writer but one address."""


class WriterView:
    """Opens a fresh view for each command; implements `WriterBox`. Thread-safe.

    Args:
        tier: warm, lite, bubblewrap; or none, where a command has a fresh folder and nothing keeps it there.
        hide: what no command sees, even below a folder that the user names: absolute paths, or patterns below any
            folder of packages (as in `open_sandbox`).
        unnamed: what it sees only if it lies in something that the user names, wherever it lies.
    """

    def __init__(self, tier: str, hide: Sequence[str] = (), unnamed: Sequence[Path] = ()) -> None:
        self.tier, self._unnamed = tier, list(unnamed)
        self._hide = [*hide, glob.escape(_APP)]
        self._uids = UidPool() if os.getuid() == 0 and tier != "none" else None

    @contextmanager
    def open(self, command: Sequence[str], files: Sequence[str] = (), door: int | None = None) -> Iterator[Confined]:
        """The command line that runs `command` in its view. What it wrote is removed at the end."""
        if door is not None and self.tier not in CLOSES_NETWORK:
            raise NoSandboxError(
                f"llm.*.network=gateway needs the sandbox tier warm or bubblewrap, and here it is {self.tier}: nothing "
                "else keeps an agent from other addresses; llm.*.network=open lets it use the network and a login of "
                "its own"
            )
        uid = self._uids.take() if self._uids else None
        try:
            with scratch_folder(WRITER_FOLDER, remove_tree) as place:
                place.chmod(0o711)  # as root the command is another user, and passes through
                folder = place / "workspace"
                folder.mkdir(mode=0o700)
                yield self._confined(list(command), list(files), folder, uid, door)
        finally:
            if self._uids and uid is not None:
                self._uids.give_back(uid)

    @property
    def confines(self) -> bool:
        return self.tier != "none"

    def close(self) -> None:
        """Free the user ids."""
        if self._uids:
            self._uids.close()

    def _confined(
        self, command: list[str], files: list[str], folder: Path, uid: int | None, door: int | None
    ) -> Confined:
        if self.tier == "none":
            return Confined(command, folder, {"HOME": str(folder)})
        own_root = self.tier != "lite"
        home = mounts.WORKSPACE if own_root else str(folder)
        temporary = "/tmp" if own_root else str(folder / ".tmp")
        scratch = folder.parent / "root"
        scratch.mkdir()
        own = own_files(command, files)
        unnamed = [path for path in self._unnamed if not any(path.is_relative_to(os.path.realpath(one)) for one in own)]
        task = {
            "tier": self.tier, "command": command, "folder": str(folder), "home": home, "temporary": temporary,
            "own": own, "read_only": shown_to(command, files),
            "hide": [*self._hide, *(glob.escape(str(path)) for path in unnamed)],
            "devices": [path for path in files if path.startswith("/dev/")], "uid": uid, "scratch": str(scratch),
            "disk_mb": WRITER_DISK_MB, "parent": os.getpid(), "door": door, "port": GATEWAY_PORT,
        }  # fmt: skip
        path = folder.parent / "task.json"
        path.write_text(json.dumps(task), encoding="utf-8")
        path.chmod(0o600)
        line = [sys.executable, "-I", "-B", str(_SCRIPT), str(path)]
        return Confined(line, folder, {"HOME": home, "TMPDIR": temporary})


def own_files(words: Sequence[str], files: Sequence[str]) -> list[str]:
    """The program, the files among its words, and what the user names."""
    return [words[0], *(word for word in words[1:] if os.path.isabs(word) and os.path.isfile(word)), *files]


def shown_to(words: Sequence[str], files: Sequence[str]) -> list[str]:
    """Host paths that a command may read, none below another: the system's, its own, and those that were named."""
    wanted = [*_SYSTEM, *(f"/etc/{name}" for name in _ETC)]
    for path in own_files(words, files):
        wanted += [path, *(_of_program(path) if os.path.isfile(path) and os.access(path, os.X_OK) else [])]
    shown: list[str] = []
    for path in sorted(dict.fromkeys(wanted), key=len):
        below = any(path == other or path.startswith(f"{other}/") for other in shown)
        if os.path.exists(path) and not below and not path.startswith(("/dev/", "/proc/")):
            shown.append(path)
    return shown


def _of_program(path: str, depth: int = 0) -> list[str]:
    """The links that lead to a program, what was installed with it, and the interpreter that it names."""
    found = []
    for place in _links(path):
        folder, prefix = os.path.dirname(place), os.path.dirname(os.path.dirname(place))
        found.append(place)
        if os.path.basename(folder) == "bin" and _is_prefix(prefix):
            found += [os.path.join(prefix, name) for name in _INSTALLED]
    interpreter = _shebang(path)
    return found + (_of_program(interpreter, depth + 1) if interpreter and depth < 2 else [])


def _is_prefix(folder: str) -> bool:
    """True for a place where an interpreter is installed: what lies in `lib` is packages, not somebody's data."""
    lib = Path(folder) / "lib"
    return any((Path(folder) / mark).exists() for mark in _MARKS) or any(lib.glob("python3*"))


def _links(path: str) -> list[str]:
    """`path` and each step to the file that it stands for."""
    steps = [path]
    while os.path.islink(steps[-1]) and len(steps) < 40:
        steps.append(os.path.normpath(os.path.join(os.path.dirname(steps[-1]), os.readlink(steps[-1]))))
    return [*steps, os.path.realpath(path)]


def _shebang(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            first = file.readline(512)
    except OSError:
        return None
    try:
        words = shlex.split(first[2:].decode("utf-8", "replace")) if first[:2] == b"#!" else []
    except ValueError:  # a quote without its end
        return None
    if words and os.path.basename(words[0]) == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return shutil.which(words[0]) if words else None
