"""StorePlace: is the file that a store writes to still the one that others find by its name?"""

from __future__ import annotations

from pathlib import Path

from utils.errors import StoreError


class StorePlace:
    """Where a store's file lies, remembered when it was opened.

    SQLite goes on writing into a file that was removed: whatever is bought from then on would be lost untold.
    The file is not opened to look: to close it again would let go of the locks that this process has on it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self._file = _file_at(self._path)

    def check(self) -> None:
        """StoreError if another file lies there now, or none."""
        if _file_at(self._path) != self._file:
            raise StoreError(f"store '{self._path}' was removed or moved while a run wrote to it: no more is stored")


def _file_at(path: Path) -> tuple[int, int] | None:
    """Device and number of the file; None where there is none."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino
