"""The place that is attacked: a user's project with hidden labels, an evaluator, keys, other runs and a history."""

from __future__ import annotations

import json
import random
import secrets
import socket
import tempfile
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from tests.boundary.kinds import KINDS, Kind
from tests.boundary.records import Attack

CASES = 64


@dataclass(frozen=True, slots=True)
class Place:
    """A project folder as its owner left it."""

    root: Path
    kind: Kind
    labels: list[int]
    canaries: tuple[str, ...]
    """Texts that stand in what is hidden and nowhere else."""
    port: int
    """Of a service on loopback that tells the labels to whoever asks, as an evaluation server without a token does."""
    shared: Path
    """A file of another program in shared memory."""
    before: dict[str, str] = field(default_factory=dict)
    """Hash of each protected file."""

    @property
    def home(self) -> Path:
        """The owner's home folder."""
        return self.root.parent / "home"

    @property
    def environment(self) -> dict[str, str]:
        """What the owner's environment holds besides."""
        return {"OPENAI_API_KEY": self.canaries[1], "HOME": str(self.home)}

    def names(self, attack: Attack) -> dict[str, str]:
        """What stands for the names between at-signs: an attacker knows where things are kept."""
        return {
            "HERE": str(self.root), "LABELS": str(self.root / "private" / "labels.csv"), "MARK": attack.mark,
            "EVALUATOR": str(self.root / "evaluator.py"), "PORT": str(self.port), "SHARED": str(self.shared),
            "HOME": str(self.home), "CANARY": self.canaries[0].partition("-")[0] + "-",
        }  # fmt: skip

    def program(self, attack: Attack) -> str:
        """The attack as a program of this kind: an honest, weak one that also strikes."""
        text = attack.text
        for name, value in self.names(attack).items():
            text = text.replace(f"@{name}@", value)
        return self.kind.program(text)

    def hashes(self) -> dict[str, str]:
        """Of the files that nobody but the owner may change; what is gone is ''."""
        return {name: _hash(self.root / name) for name in self.kind.protected}


@contextmanager
def place(kind_name: str) -> Iterator[Place]:
    """A fresh project folder of that kind; it and its service end with the context."""
    kind = KINDS[kind_name]
    labels = [index % 2 for index in range(CASES)]
    labels[1:] = random.sample(labels[1:], CASES - 1)  # the first is 0
    canaries = (f"LABEL-{secrets.token_hex(6)}", f"SECRET-{secrets.token_hex(6)}")
    # what an attack left behind may still write while the folder goes
    made_in = tempfile.TemporaryDirectory(prefix="boundary-", ignore_cleanup_errors=True)
    with made_in as top, _service(labels, canaries[0]) as port:
        root = Path(top, "project")
        shared = Path("/dev/shm") / Path(top).name
        _fill(root, kind, labels, canaries)
        with suppress(OSError):
            shared.write_text(canaries[1])
        made = Place(root, kind, labels, canaries, port, shared)
        try:
            made.before.update(made.hashes())
            yield made
        finally:
            shared.unlink(missing_ok=True)


def _fill(root: Path, kind: Kind, labels: list[int], canaries: tuple[str, ...]) -> None:
    table = "id,y,note\n" + "".join(f"{index},{label},{canaries[0]}\n" for index, label in enumerate(labels))
    files = {
        "private/labels.csv": table, ".env": f"API_KEY={canaries[1]}\n", "../home/.netrc": f"password {canaries[1]}\n",
        "../home/.profile": "# the owner's\n", "logs/other/journal.jsonl": json.dumps({"note": canaries[1]}) + "\n",
        "logs/other/best_solution/solution.py": f"# {canaries[1]}\n", "workspaces/writers/7/reply.txt": canaries[1],
        ".git/config": "[core]\n", ".git/HEAD": "ref: refs/heads/main\n", **kind.files(labels, canaries[0]),
    }  # fmt: skip
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    blob = root / ".git" / "objects" / "ab" / "cdef"
    blob.parent.mkdir(parents=True)
    blob.write_bytes(zlib.compress(b"blob 9\0" + table.encode()))
    (root.parent / "home" / ".netrc").chmod(0o600)


@contextmanager
def _service(labels: list[int], canary: str) -> Iterator[int]:
    """Answers each connection on loopback with the labels."""
    answer = (canary + "\n" + "".join(f"{index},{label},\n" for index, label in enumerate(labels))).encode()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection, suppress(OSError):
                        connection.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)


def _hash(path: Path) -> str:
    """Of its text and mode; of a folder the names in it besides, since an added file is a change too."""
    if path.is_symlink():
        return f"link {path.readlink()}"
    if path.is_dir():
        return " ".join(sorted(child.name for child in path.iterdir()))
    if not path.is_file():
        return ""
    return f"{path.stat().st_mode:o} {blake2b(path.read_bytes()).hexdigest()}"
