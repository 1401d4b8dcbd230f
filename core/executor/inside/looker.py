"""A program that looks for hidden answers where it runs, as a candidate could. In the sandbox it is to find nothing.

It is told where the answers lie and how to recognise them, by digests: the answers themselves never come here. Standard
library only, Python 3.9 or newer; `main` is called at the end of the source that is sent.
"""

from __future__ import annotations

import ctypes
import glob
import json
import os
import stat
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

MB = 1 << 20
MOST_READ = 4 * MB
"""Bytes of visible files that are searched for parts of answers; whole copies are found in any number of files."""
MOST_MEMORY = 256 * MB
"""Bytes of memory that are searched where the kernel does not say which of them anybody has used; else all of those."""
MOST_COPY = 64 * MB
_CHUNK, _OVERLAP = MB // 2, 4096
"""Bytes of memory that are searched at once, and that two neighbours have in common; more where an answer is longer."""
_memmem = ctypes.CDLL(None).memmem
_memmem.restype = ctypes.c_void_p
_memmem.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
_PAGE = os.sysconf("SC_PAGE_SIZE")
_ENTRY = 8
"""Bytes of a page in a page map. The two highest bits of the last one: it is in memory, or it is swapped out."""
_IS_THERE = bytes(byte >= 0x40 for byte in range(256))
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/proc", "/sys", "/dev/pts")
"""What is shown of /etc are settings of programs and links to them, on which the search spent all that it may read."""


_IN_MEMORY = 2
"""Marks that memory is searched for: the canary and a line."""

_FIELD_END = (b"", b",", b"\r", b"\n", b"\0")
Mark = tuple[bytes, int, str, str, bool]
"""Beginning, length, digest, what it is of, and whether it must be a whole field: `7,3` is not in `7,35`."""


class Looker:
    """One search. `found` lists `{how, what, where}`; `looked` counts."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan
        self.key = bytes.fromhex(plan["key"])
        self.found: list[dict[str, str]] = []
        self.looked = {"files": 0, "bytes": 0, "memory": 0, "descriptors": 0}
        self.marks = [
            (bytes.fromhex(m["mark"]), m["length"], m["digest"], m["name"], m["whole"]) for m in plan["marks"]
        ]
        self.sizes = {hidden["size"]: hidden for hidden in plan["files"]}
        self.searched = 0
        """Pieces of memory."""
        self.lock = threading.Lock()
        self.nodes = {(hidden["device"], hidden["inode"]): hidden for hidden in plan["files"]}

    def look(self) -> None:
        """Everywhere a program can look without a fault of the kernel's.

        Memory takes longest, mostly in calls that let other threads run: two look through it beside the rest. Where the
        kernel does not read it for us nothing runs beside: to look at what another thread has given back would end us.
        """
        self.descriptors()
        self.mappings()
        own = _own_memory()
        longest = max((length for _, length, *_ in self.marks[:_IN_MEMORY]), default=0)
        pieces = list(_pieces(_first(regions()) if own is None else touched(regions()), longest))
        beside = [threading.Thread(target=self.memory, args=(own, pieces[part::2])) for part in range(2)]
        for thread in beside:
            thread.start()
            if own is None:
                thread.join()
        self.paths()
        self.packages()
        self.tree()
        self.environment()
        self.others()
        for thread in beside:
            thread.join()
        if self.searched < len(pieces):
            raise RuntimeError("memory was not searched to its end")  # why not has been printed

    def tell(self, how: str, what: str, where: str) -> None:
        if len(self.found) < 20:
            self.found.append({"how": how, "what": what, "where": where})

    # ------------------------------------------------------------ files

    def paths(self) -> None:
        """The answers' own files, by their names and through other processes' roots."""
        roots = ["", "/proc/self/root", "/proc/1/root", f"/proc/{os.getppid()}/root", "/proc/1/cwd/.."]
        for hidden in self.plan["files"]:
            for root in roots:
                if self.opens(root + hidden["path"]):
                    self.tell("path", hidden["name"], root + hidden["path"])

    def packages(self) -> None:
        """Data of installed packages in which answers lie: nothing of them may be left to read."""
        folders = [folder for folder in dict.fromkeys(map(os.path.realpath, sys.path)) if os.path.isdir(folder)]
        for pattern in self.plan["patterns"]:
            places = [pattern] if os.path.isabs(pattern) else [os.path.join(glob.escape(f), pattern) for f in folders]
            for place in places:
                for path in glob.iglob(place, recursive=True):
                    self.kept(path, pattern)

    def kept(self, path: str, pattern: str) -> None:
        names = [os.path.join(at, name) for at, _, files in os.walk(path) for name in files] or [path]
        for name in names:
            if os.path.isfile(name) and self.opens(name):
                self.tell("package", pattern, name)
                return

    @staticmethod
    def opens(path: str) -> bool:
        try:
            with open(path, "rb") as file:
                return bool(file.read(1))
        except OSError:
            return False

    def tree(self) -> None:
        """Every file that is visible beyond the system and the interpreter, by identity, by size and by content."""
        skip = {identity(place) for place in (*_SYSTEM, sys.prefix, sys.base_prefix, *filter(None, sys.path))}
        budget, todo = MOST_READ, ["/", *{os.getcwd(), "/workspace", "/tmp", "/dev/shm"}]
        seen = skip - {identity(os.getcwd())}
        while todo:
            folder = todo.pop()
            if identity(folder) in seen:
                continue
            seen.add(identity(folder))
            try:
                entries = list(os.scandir(folder))
            except OSError:
                continue
            for entry in entries:
                try:
                    status = entry.stat()
                except OSError:
                    continue
                if stat.S_ISDIR(status.st_mode):
                    todo.append(entry.path)
                elif stat.S_ISREG(status.st_mode):
                    budget -= self.file(entry.path, status, budget)

    def file(self, path: str, status: os.stat_result, budget: int) -> int:
        """Returns the bytes that were searched."""
        self.looked["files"] += 1
        same = self.nodes.get((status.st_dev, status.st_ino))
        if same is not None and self.opens(path):
            self.tell("file", same["name"], path)
        copy = self.sizes.get(status.st_size)
        if copy is None and (budget <= 0 or status.st_size > budget):
            return 0
        try:
            with open(path, "rb") as file:
                data = file.read(MOST_COPY + 1)
        except OSError:
            return 0
        if copy is not None and self.digest(data) == copy["digest"]:
            self.tell("copy", copy["name"], path)
        else:
            self.search(data, "file", path)
        self.looked["bytes"] += len(data)
        return len(data)

    # ------------------------------------------------------------ processes

    def descriptors(self) -> None:
        """What was left open for us."""
        try:
            numbers = [int(name) for name in os.listdir("/proc/self/fd")]
        except OSError:
            numbers = list(range(64))
        for number in numbers:
            try:
                status = os.fstat(number)
            except OSError:
                continue
            self.looked["descriptors"] += 1
            same = self.nodes.get((status.st_dev, status.st_ino))
            if same is not None:
                self.tell("descriptor", same["name"], str(number))
            elif stat.S_ISREG(status.st_mode):
                try:
                    self.search(os.pread(number, MB, 0), "descriptor", str(number))
                except OSError:
                    pass

    def mappings(self) -> None:
        """Files that the process we were forked from left in our memory: the search of that looks at no file's."""
        for line in _mapped():
            fields = line.split(maxsplit=5)
            major, _, minor = fields[3].partition(":")
            same = self.nodes.get((os.makedev(int(major, 16), int(minor, 16)), int(fields[4])))
            if same is not None:
                self.tell("mapping", same["name"], fields[0])

    def environment(self) -> None:
        given = "\n".join([*sys.argv, *(f"{name}={value}" for name, value in os.environ.items())])
        self.search(given.encode("utf-8", "surrogateescape"), "environment", "environment")

    def memory(self, own: int | None, pieces: Sequence[tuple[int, int]]) -> None:
        """Our own: what the process that we were forked from had read."""
        buffer = bytearray(max((end - start for start, end in pieces), default=1))
        found_at = ctypes.addressof(ctypes.c_char.from_buffer(buffer))
        for start, end in pieces:
            place, read = start, 0
            while place < end:
                size, whole = 0, end - place
                while size < whole and (got := _copied(own, place + size, memoryview(buffer)[size:whole])):
                    size += got  # the kernel may read in parts: what lies in two of them is whole here
                self.search_at(found_at, size, "memory", hex(place), self.marks[:_IN_MEMORY])
                place, read = place + (size or _PAGE), read + size  # a page was given back: what lies behind it was not
            with self.lock:
                self.looked["memory"] += read
                self.searched += 1

    def others(self) -> None:
        """What can be read of other processes."""
        try:
            names = os.listdir("/proc")
        except OSError:
            return
        for name in names:
            if name.isdigit() and int(name) != os.getpid():
                for part in ("environ", "cmdline"):
                    try:
                        with open(f"/proc/{name}/{part}", "rb") as file:
                            self.search(file.read(MB), "process", f"/proc/{name}/{part}")
                    except OSError:
                        continue

    # ------------------------------------------------------------ recognising

    def search(self, data: bytes, how: str, where: str) -> None:
        """Report what follows a mark, if its digest is an answer's."""
        self.search_at(
            ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0, len(data), how, where, self.marks
        )

    def search_at(self, start: int, size: int, how: str, where: str, marks: list[Mark]) -> None:
        """The same of bytes where they lie."""
        end = start + size
        for mark, length, digest, name, whole in marks:
            at = _memmem(start, size, mark, len(mark))
            while at:
                found = ctypes.string_at(at, min(length + 1, end - at))
                ends = not whole or found[length:] in _FIELD_END
                if ends and self.digest(found[:length]) == digest:
                    self.tell(how, name, where)
                    return
                at = _memmem(at + 1, end - at - 1, mark, len(mark))

    def digest(self, data: bytes) -> str:
        return blake2b(data, digest_size=16, key=self.key).hexdigest()


def identity(path: str) -> tuple[int, int] | None:
    """Of a folder, under whatever name it is shown; None where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _mapped() -> list[str]:
    """Lines of what is in our memory; [] in a tier that does not show it."""
    try:
        with open("/proc/self/maps") as file:
            return file.read().splitlines()
    except OSError:
        return []


def regions() -> Iterator[tuple[int, int]]:
    """Readable and writable memory that belongs to no file."""
    for line in _mapped():
        fields = line.split()
        if fields[1].startswith("rw") and (len(fields) < 6 or fields[5] == "[heap]"):
            start, end = (int(word, 16) for word in fields[0].split("-"))
            yield start, end


def _first(places: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Of places that may never have been used, `MOST_MEMORY` bytes."""
    left = MOST_MEMORY
    for start, end in places:
        if left > 0:
            yield start, min(end, start + left)
            left -= end - start


def _pieces(places: Iterable[tuple[int, int]], longest: int = 0) -> Iterator[tuple[int, int]]:
    """Parts that overlap: an answer in two of them, of at most `longest` bytes, is whole in one."""
    overlap = max(_OVERLAP, longest + 1)
    chunk = max(_CHUNK, 2 * overlap)
    for start, end in places:
        while start < end:
            stop = min(start + chunk, end)
            yield start, stop
            start = stop if stop == end else stop - overlap


def _own_memory() -> int | None:
    """A descriptor of our memory; None in a tier that does not show it."""
    try:
        return os.open("/proc/self/mem", os.O_RDONLY)
    except OSError:
        return None


def _copied(memory: int | None, place: int, target: memoryview) -> int:
    """Bytes that were copied; 0 where the place was given back since it was listed: to look there would end us."""
    if memory is None:
        ctypes.memmove((ctypes.c_char * len(target)).from_buffer(target), place, len(target))
        return len(target)
    try:
        return os.preadv(memory, [target], place)
    except OSError:
        return 0


def touched(found: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The parts of regions that anybody has used; the first ones where the kernel does not say. The rest is zeros, of
    which each page would cost a fault: a third of what libraries of numbers ask for.
    """
    places = list(found)
    try:
        with open("/proc/self/pagemap", "rb", buffering=0) as pages:
            kept = [part for start, end in places for part in _runs(start, _are_there(pages, start, end))]
    except OSError:
        kept = list(_first(places))
    yield from kept


def _are_there(pages: Any, start: int, end: int) -> bytes:
    """Of a page map, a byte a page: 1 where anybody has used it. OSError where it ends early."""
    pages.seek(start // _PAGE * _ENTRY)
    data, whole = b"", (end - start) // _PAGE * _ENTRY
    while len(data) < whole:
        more = pages.read(whole - len(data))
        if not more:
            raise OSError("the page map ends before the region")
        data += more
    return data[_ENTRY - 1 :: _ENTRY].translate(_IS_THERE)


def _runs(start: int, are_there: bytes) -> Iterator[tuple[int, int]]:
    """Neighbouring pages that are there, as one place."""
    begin = are_there.find(1)
    while begin >= 0:
        end = are_there.find(0, begin)
        end = len(are_there) if end < 0 else end
        yield start + _PAGE * begin, start + _PAGE * end
        begin = are_there.find(1, end)


def main(plan: dict[str, Any]) -> None:
    """Print what was found and how much was looked at."""
    looker = Looker(plan)
    looker.look()
    print("\n" + json.dumps({"found": looker.found, "looked": looker.looked}))
