"""Stand-ins for packages that single competitions import and that are not installed.

Small ones are written anew. Of others the import succeeds, since most need them for raw data only; their first use says
which package is missing.
"""

from __future__ import annotations

import struct
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any


def stand_in(missing: ModuleNotFoundError) -> bool:
    """Put a stand-in for the module that was not found into `sys.modules`; False for a module of our own."""
    name = missing.name or ""
    if not name or name.partition(".")[0] in ("mlebench", "problems", "core", "utils") or name in sys.modules:
        return False
    for depth in range(1, name.count(".") + 2):
        part = ".".join(name.split(".")[:depth])
        if part not in sys.modules:
            sys.modules[part] = _Absent(part)
            sys.modules[part].__path__ = []
            vars(sys.modules[part]).update(WRITTEN.get(part, {}))
    return True


def is_absent(name: str) -> bool:
    """True if a stand-in was put for that module."""
    return isinstance(sys.modules.get(name), _Absent)


def lacks(package: str) -> str:
    """What is told where a package that is not there is used."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return (
        f"this competition needs the package {package}, which is not installed: install it beside Swarm-Evo, or name "
        f"the Python {version} that has it by --execution.python=FILE"
    )


class _Absent(types.ModuleType):
    """A module that is not there: every name in it is a thing that says so when it is used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _absent(self.__name__)


def _absent(module: str) -> type:
    """A class, so that it may be inherited from, named in types, and asked for names of its own."""
    package = module.partition(".")[0]

    class Asked(type):
        def __getattr__(cls, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            return _absent(module)

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            raise ImportError(lacks(package))

    Asked.__name__ = f"{package}, which is not installed"  # so that `Asked + 1` says why it cannot be done
    return Asked(package, (), {})


def distance(first: Sequence[Any], second: Sequence[Any], **options: Any) -> int:
    """Levenshtein's: the fewest insertions, deletions and replacements that turn one into the other."""
    if options:
        raise ImportError(lacks("Levenshtein"))
    row = list(range(len(second) + 1))
    for place, one in enumerate(first, 1):
        before, row[0] = row[0], place
        for number, other in enumerate(second, 1):
            before, row[number] = row[number], min(row[number] + 1, row[number - 1] + 1, before + (one != other))
    return row[-1]


WRITTEN: dict[str, dict[str, Callable[..., Any]]] = {"Levenshtein": {"distance": distance}}
"""Module → the names of it that are written anew."""


def get_ids_from_tf_records(tf_record_path: Path, id_feature: str = "image_name") -> list[str]:
    """The id of every record of a TFRecord file, as `mlebench` reads it with TensorFlow."""
    found = []
    for record in _records(Path(tf_record_path).read_bytes()):
        features = [entry for _, features in _fields(record) for _, entry in _fields(features)]
        values = {key.decode(): value for key, value in (_entry(entry) for entry in features)}
        _, byte_list = next(_fields(values[id_feature]))
        found.append(next(_fields(byte_list))[1].decode("utf-8"))
    return found


def _records(data: bytes) -> Iterator[bytes]:
    """Length, its checksum, the record, its checksum."""
    place = 0
    while place < len(data):
        (length,) = struct.unpack_from("<Q", data, place)
        yield data[place + 12 : place + 12 + length]
        place += length + 16


def _entry(entry: bytes) -> tuple[bytes, bytes]:
    fields = dict(_fields(entry))
    return fields[1], fields.get(2, b"")


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """(number, bytes) of a protobuf message's fields; others than byte fields are passed over."""
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        if key & 7 == 2:
            length, place = _varint(message, place)
            yield key >> 3, message[place : place + length]
            place += length
        elif key & 7 == 0:
            _, place = _varint(message, place)
        else:
            place += 8 if key & 7 == 1 else 4


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place
