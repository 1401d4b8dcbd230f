"""A zip that holds a whole data set, as Kaggle hands it out: unpacked once, into a folder of ours, within bounds.

Who made the archive is not known: its sizes are checked before anything is written, and names that lead out of the
folder, links and locked members are refused.
"""

from __future__ import annotations

import lzma
import os
import shutil
import stat
import tarfile
import zipfile
import zlib
from hashlib import sha256
from pathlib import Path, PurePosixPath

from utils.counts import counted
from utils.dataset_files import are_several, files_in_zip, find_sample, find_train, is_hidden, tables_called
from utils.errors import ConfigError
from utils.file_utils import folder_for, link_or_copy, move_into_place, size_text, used_now
from utils.user_path import user_path

BROKEN = (
    OSError, EOFError, RuntimeError, NotImplementedError, zlib.error, lzma.LZMAError, zipfile.BadZipFile,
    tarfile.TarError,
)  # fmt: skip
"""What Python's own readers raise for a packed file that is broken, cut off, locked, or of a kind they do not know."""
MOST_BYTES = 50 * 10**9
MOST_FILES = 1_000_000
DENSE, DENSE_BYTES = 200, 10**9
"""Times that an archive may grow where it comes to more than so many bytes: tables grow ten times, bombs a thousand."""


def whole_archive(folder: str | Path | None, train: str | None) -> Path | None:
    """The zip that holds the user's data set, or None: the one that he names, or the only table of his folder.

    A zip of one file, or with a member called like itself (`train.csv` in `train.zip`), is a packed table.

    Raises:
        ConfigError: it is called a zip and cannot be read as one.
    """
    place = user_path(folder) if folder is not None else None
    if place is None or place.is_file():
        found = place or (user_path(train) if train else None)
    elif train and (place / train).exists():
        found = place / train
    elif place.is_dir():
        zips = [path for path in sorted(place.iterdir()) if path.suffix.lower() == ".zip"]
        lone = zips[0] if len(zips) == 1 else None
        test = next(iter(tables_called(place, "test")), None)
        found = lone if train else find_train(place, (test, find_sample(place))) or lone
    else:
        return None
    return found.resolve() if found is not None and _holds_several(found) else None


def unpacked(archive: Path, place: Path, beside: Path | None = None, ours: tuple[Path, ...] = ()) -> Path:
    """The folder of the archive's files below `place`, made unless it is there; only our user may open it.

    Args:
        beside: the user's folder, whose other files and folders lie in the result too, as links.
        ours: what of `beside` is not the user's.

    Raises:
        ConfigError: one line that names the archive and what is wrong with it.
    """
    status = archive.stat()
    digest = sha256(f"{archive}:{status.st_size}:{status.st_mtime_ns}:{beside}".encode()).hexdigest()[:12]
    target = place / digest
    if not target.is_dir():
        try:
            with folder_for(target) as made:
                _extract(archive, made)
                _extract_inner(made, archive)
                move_into_place(made, target)
        except BROKEN as error:
            raise _unusable(archive, error) from error
    used_now(target)
    inner = _where_tables_are(target)
    if beside is not None:
        _link_others(inner, beside, {archive, *ours})
    return inner


def _extract_inner(made: Path, archive: Path) -> None:
    """Unpack the zips of several files in an archive that has no training table but in them; the zips are not kept.

    Args:
        archive: what they came in, whose size all of them together are held against.
    """
    inner = _where_tables_are(made)
    train = _train_in(inner)
    zips = [path for path in sorted(inner.iterdir()) if path.is_file() and _holds_several(path)]
    if train is not None and train not in zips:
        return
    infos: list[zipfile.ZipInfo] = []
    for path in zips:
        with zipfile.ZipFile(path) as opened:
            infos += filter(_is_wanted, opened.infolist())
    _refuse_large(infos, archive, inner)
    for path in zips:
        place = inner if len(zips) == 1 else path.with_suffix("")
        if place == inner or not place.exists():
            _extract(path, place)
            path.unlink()


def _holds_several(path: Path) -> bool:
    """True for a zip of several files none of which is called as it is, and for a zip of a zip."""
    if path.suffix.lower() != ".zip" or not zipfile.is_zipfile(path):
        return False
    try:
        names = files_in_zip(path)
    except BROKEN as error:
        raise _unusable(path, error) from error
    return are_several(names, path) or (len(names) == 1 and names[0].suffix.lower() == ".zip")


def _unusable(archive: Path, error: Exception) -> ConfigError:
    return ConfigError(f"data: '{archive}' cannot be unpacked: {str(error)[:200]}")


def _is_wanted(info: zipfile.ZipInfo) -> bool:
    """No folder, and nothing hidden, such as what macOS adds."""
    return not is_hidden(PurePosixPath(*_parts(info))) and not info.filename.endswith(("/", "\\"))


def _parts(info: zipfile.ZipInfo) -> tuple[str, ...]:
    """Windows writes its own separator."""
    return PurePosixPath(info.filename.replace("\\", "/")).parts


def _extract(archive: Path, made: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        infos = [info for info in opened.infolist() if _is_wanted(info)]
        for info in infos:
            _refuse_unsafe(info, archive)
        _refuse_clashes(infos, archive)
        _refuse_large(infos, archive, made.parent)
        for info in infos:
            path = made.joinpath(*_parts(info))
            path.parent.mkdir(parents=True, exist_ok=True)
            with opened.open(info) as member, path.open("wb") as file:  # never read beyond the size that it tells
                shutil.copyfileobj(member, file)


def _refuse_unsafe(info: zipfile.ZipInfo, archive: Path) -> None:
    parts, mode = _parts(info), info.external_attr >> 16
    if ".." in parts or not parts or parts[0] == "/" or ":" in parts[0]:
        raise ConfigError(f"data: '{archive}' is refused: its member {info.filename[:80]!r} leads out of its folder")
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        raise ConfigError(f"data: '{archive}' is refused: its member {info.filename[:80]!r} is no plain file")
    if info.flag_bits & 1:
        raise ConfigError(f"data: '{archive}' is locked by a password; unpack it first")


def _refuse_clashes(infos: list[zipfile.ZipInfo], archive: Path) -> None:
    folders = {parent for info in infos for parent in PurePosixPath(*_parts(info)).parents}
    for info in infos:
        if PurePosixPath(*_parts(info)) in folders:
            raise ConfigError(f"data: '{archive}' is refused: its member {info.filename[:80]!r} is a file and a folder")


def _refuse_large(infos: list[zipfile.ZipInfo], archive: Path, place: Path) -> None:
    place.mkdir(parents=True, exist_ok=True)
    size, packed, free = sum(info.file_size for info in infos), archive.stat().st_size, shutil.disk_usage(place).free
    why = ""
    if size > MOST_BYTES or len(infos) > MOST_FILES:
        why = f"at most {size_text(MOST_BYTES)} and {MOST_FILES} files are unpacked"
    elif size > DENSE_BYTES and size > DENSE * packed:
        why = f"more than {DENSE} times its size"
    elif size > 0.9 * free:
        why = f"the disk of '{place}' has {size_text(free)} left"
    if why:
        raise ConfigError(
            f"data: '{archive}' holds {size_text(size)} in {counted(len(infos), 'file')}: {why}; unpack it yourself"
        )


def _where_tables_are(place: Path) -> Path:
    """The folder of the tables: a lone folder is entered, beside other files where the training table lies in it."""
    inside = [path for path in place.iterdir() if not path.name.startswith(".")]
    folders = [path for path in inside if path.is_dir() and not path.is_symlink()]
    if len(folders) != 1:
        return place
    deeper = _where_tables_are(folders[0])
    return deeper if len(inside) == 1 or (_has_train(deeper) and not _has_train(place)) else place


def _has_train(place: Path) -> bool:
    return _train_in(place) is not None


def _train_in(place: Path) -> Path | None:
    """The training table, or the folder itself where several may be meant."""
    try:
        return find_train(place, (find_sample(place),))
    except ConfigError:
        return place


def _link_others(inner: Path, beside: Path, without: set[Path]) -> None:
    for path in inner.iterdir():
        if path.is_symlink() and not path.exists():
            path.unlink()  # what lay beside the archive when it was unpacked, and does no more
    barred = {os.path.realpath(path) for path in without}
    for path in sorted(beside.iterdir()):
        if (
            not path.name.startswith(".")
            and os.path.realpath(path) not in barred
            and path.exists()
            and not (inner / path.name).exists()
        ):
            link_or_copy(path, inner / path.name)
