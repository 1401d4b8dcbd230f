"""`provider: command`: any program of the user's that reads a prompt on stdin and prints a reply."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import IO, Any

from core.backend.agent.folder import lay_out_task
from core.backend.deadline import Deadline
from core.backend.exchange import Reply, Request
from core.backend.provider import ProviderSpec
from core.backend.settings import ModelSettings
from core.backend.stream import LARGEST_REPLY, within_size
from core.contracts import WRITER_DISK_MB, WRITER_FOLDER, Confined, WriterBox
from utils.errors import BackendBusyError, BackendError, ConfigError
from utils.folder_size import Disk, holds_more
from utils.scratch_folders import scratch_folder

BUSY = 75
"""EX_TEMPFAIL of sysexits.h: a command that ends so is tried again."""
USUAL_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""Variables that every command gets; `llm.*.env` names further ones."""
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh")
_GRACE = 2.0
"""Seconds between asking a command to end and killing it."""
_LOOK, _WEIGH = 0.05, 0.25
"""Seconds between two looks at the clock and the disk, and at how much its folder holds."""
SHORT = "the disk below its folder has next to nothing left"


def connect(settings: ModelSettings) -> list[str]:
    """The command line as a list."""
    try:
        argv = shlex.split(settings.command or "")
    except ValueError as error:
        raise ConfigError(f"llm.{settings.role}.command={settings.command}: {error}") from error
    if not argv:
        raise ConfigError(f"llm.{settings.role}.command is not set; give a program that reads a prompt on stdin")
    return argv


def query(client: Any, request: Request, settings: ModelSettings, deadline: Deadline) -> Reply:
    """Run the command once: the system message, an empty line and the conversation on stdin, the reply on stdout.

    It starts in a fresh folder that holds what an agent's does (`TASK.md`, the files to change, `evidence/`), with the
    environment variables of `llm.*.env` and, in a run, in a view of its own. Its reply is what it prints.

    Raises:
        ConfigError: no such program. BackendBusyError: it ended with code 75. BackendError: with any other but 0.
        TimeoutError: it did not end in time; it and its children are killed.
    """
    argv: list[str] = client
    parts = [request.system, request.user] if request.system else [request.user]
    box: WriterBox = settings.box or FreshFolder()
    named = {**_spoken(argv), **named_files(settings)}
    with box.open(own_words(argv), list(named.values())) as confined:
        link_named(named, confined.folder)
        lay_out_task(confined.folder, request, settings.desk)
        try:
            child = subprocess.Popen(
                confined.line, cwd=confined.folder, env=environment(settings, confined), start_new_session=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
        except OSError as error:
            raise ConfigError(f"llm.{settings.role}.command: cannot start '{argv[0]}': {error.strerror}") from error
        out, err = _talk(child, "\n\n".join(parts).encode("utf-8", "replace"), deadline, confined.folder)
    text = out.decode("utf-8", "replace")
    if child.returncode:
        raise _fault(argv, child.returncode, text, err.decode("utf-8", "replace"), settings)
    return within_size(Reply(text=text.strip("\r\n"), finish_reason="stop"))


class FreshFolder:
    """Outside of a run there is nothing to keep from the command: an empty folder, and no view of its own."""

    confines = False

    @contextmanager
    def open(self, command: Sequence[str], files: Sequence[str] = (), door: int | None = None) -> Iterator[Confined]:
        with scratch_folder(WRITER_FOLDER) as place:
            folder = place / "workspace"
            folder.mkdir()
            yield Confined(list(command), folder, {"HOME": str(folder)})


def own_words(argv: Sequence[str]) -> list[str]:
    """The program and every word that names a file as paths that hold in any folder."""
    program = shutil.which(argv[0]) or argv[0]
    return [os.path.abspath(program), *(os.path.abspath(word) if os.path.isfile(word) else word for word in argv[1:])]


def named_files(settings: ModelSettings) -> dict[str, str]:
    """`llm.*.files` as the user wrote them → absolute paths; a bare name may be a program's.

    Raises:
        ConfigError: there is no such file.
    """
    found = {}
    for name in settings.files:
        path = _place(name)
        if not path or path == "/":
            why = "name files and folders, not the whole machine" if path else "there is no such file or folder"
            raise ConfigError(f"llm.{settings.role}.files={name}: {why}")
        found[name] = path
    return found


def _spoken(argv: Sequence[str]) -> dict[str, str]:
    """Programs and files that a shell's `-c` line names, as it names them → absolute paths."""
    if PurePath(argv[0]).name not in _SHELLS or "-c" not in argv[1:-1]:
        return {}
    reader = shlex.shlex(argv[argv.index("-c") + 1], posix=True, punctuation_chars=True)
    reader.whitespace_split = True
    try:
        found = {word: path for word in reader if (path := _place(word))}
    except ValueError:  # no line of a shell: it will say so itself
        return {}
    return {word: path for word, path in found.items() if os.path.isfile(path)}


def _place(name: str) -> str:
    """Where that file, folder or program is; '' where there is none."""
    path = os.path.abspath(os.path.expanduser(name))
    return path if os.path.exists(path) else shutil.which(name) or ""


def link_named(named: Mapping[str, str], folder: Path) -> None:
    """What was named by a relative path lies under that path in the fresh folder, too: scripts say it so."""
    for name, path in named.items():
        place = folder / name
        if os.path.abspath(name) == path and folder in place.parents and ".." not in place.parts:
            place.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                place.symlink_to(path)


def environment(settings: ModelSettings, confined: Confined) -> dict[str, str]:
    """What is named, and nothing else: keys of other models, tokens and addresses stay ours."""
    names = (*USUAL_ENVIRONMENT, *settings.env)
    return {**confined.environment, **{name: os.environ[name] for name in names if name in os.environ}}


def _fault(argv: Sequence[str], code: int, out: str, err: str, settings: ModelSettings) -> BackendError:
    said = (err.strip() or out.strip() or "nothing").splitlines()[-1][:300]
    kind = BackendBusyError if code == BUSY else BackendError
    return kind(f"command '{argv[0]}' ended with code {code} and said: {said}{unseen_hint(argv, settings)}")


def unseen_hint(argv: Sequence[str], settings: ModelSettings) -> str:
    """What to do where a command may have missed what its view does not show; '' where it saw the whole machine."""
    if settings.box is None or not settings.box.confines:
        return ""
    prefix = f"llm.{settings.role}"
    program = PurePath(own_words(argv)[0])
    if program.parent.name == "shims":  # of pyenv, asdf, mise, …: a script that starts a program of its manager
        root = program.parent.parent
        return (
            f"; {program} is a shim, which needs its manager: add {root} to {prefix}.files, or name the program itself"
        )
    return f"; it sees only its own files: name what else it needs in {prefix}.files and {prefix}.env"


def _talk(child: subprocess.Popen[bytes], prompt: bytes, deadline: Deadline, folder: Path) -> tuple[bytes, bytes]:
    """Write stdin and read stdout and stderr at once. At a limit the command is killed with all its children.

    Of an output that has no end only the beginning is kept: no program is that long.
    """
    watch = _Watch(child, deadline, folder)
    kept = [bytearray(), bytearray()]
    pairs = zip((child.stdout, child.stderr), kept, strict=True)
    readers = [threading.Thread(target=_keep_head, args=pair, daemon=True, name="llm-command-output") for pair in pairs]
    try:
        for thread in (watch, *readers):  # where the machine has no room for one, the command ends
            thread.start()
        assert child.stdin is not None
        with suppress(BrokenPipeError), child.stdin as stdin:  # it need not read its prompt
            stdin.write(prompt)
        for reader in readers:
            reader.join()
        child.wait()
    except RuntimeError:
        with child:  # which closes its pipes
            kill_group(child)
        raise
    finally:
        watch.over.set()
        kill_group(child)
    if watch.full:
        raise BackendError(f"the command was ended: {watch.full}")
    if deadline.cut or deadline.left <= 0:
        raise TimeoutError(f"the command did not end within {deadline.seconds:g} s")
    return bytes(kept[0]), bytes(kept[1])


def _keep_head(stream: IO[bytes], kept: bytearray) -> None:
    with stream:
        while piece := stream.read1(65536):  # type: ignore[attr-defined]
            kept += piece[: max(0, 4 * LARGEST_REPLY - len(kept))]


class _Watch(threading.Thread):
    """Kills the command at its deadline, and when its folder holds too much."""

    def __init__(self, child: subprocess.Popen[bytes], deadline: Deadline, folder: Path) -> None:
        super().__init__(name="llm-command-watch", daemon=True)
        self.over = threading.Event()
        self.full = ""
        """Why it may not write on."""
        self._child, self._deadline, self._folder = child, deadline, folder
        self._disk = Disk(folder)

    def run(self) -> None:
        weighed = time.monotonic()
        while not self.over.wait(min(_LOOK, max(0.0, self._deadline.left))):
            if self._disk.is_short:
                self.full = SHORT
            elif time.monotonic() - weighed > _WEIGH:
                if holds_more(self._folder, WRITER_DISK_MB):
                    self.full = f"its folder held more than {WRITER_DISK_MB:,} MB"
                weighed = time.monotonic()
            if self.full or self._deadline.cut or self._deadline.left <= 0:
                kill_group(self._child)
                return


def kill_group(child: subprocess.Popen[bytes]) -> None:
    """End the command with all its children: first by asking, so that whoever confines it can find those that left."""
    with suppress(ProcessLookupError, PermissionError):
        child.terminate()
        with suppress(subprocess.TimeoutExpired):
            child.wait(_GRACE)
        os.killpg(child.pid, signal.SIGKILL)


def check(settings: ModelSettings) -> None:
    program = connect(settings)[0]
    if shutil.which(program) is None:
        raise ConfigError(f"llm.{settings.role}.command: there is no program '{program}'")
    named_files(settings)


def _program(keys: Mapping[str, Any]) -> str:
    """A command is called by its program where no model is named."""
    return PurePath((keys.get("command") or "command").split()[0]).name


COMMAND = ProviderSpec(
    connect, query, sends_bills=False, has_tools=False, starts_program=True, model_name=_program, check=check
)
