"""Unpacks a tar whose maker is not known."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path


def untar(archive: tarfile.TarFile, folder: Path) -> None:
    """Write the archive's files, folders and links below `folder`, all of which stay in it.

    Raises:
        tarfile.TarError: a member leads out of the folder, or is none of these.
    """
    if hasattr(tarfile, "data_filter"):  # Python 3.11.4 and newer
        archive.extractall(folder, filter="data")
        return
    root = os.path.realpath(folder)
    for member in archive:
        place = os.path.join(root, member.name)
        leads_to = [place, os.path.join(os.path.dirname(place), member.linkname)] if member.issym() else [place]
        if any(os.path.commonpath([root, os.path.realpath(path)]) != root for path in leads_to):
            raise tarfile.ExtractError(f"{member.name!r} leads out of its folder")
        if not (member.isfile() or member.isdir() or member.issym()):
            raise tarfile.ExtractError(f"{member.name!r} is no file")
        archive.extract(member, root, set_attrs=False)
        if not member.issym():
            os.chmod(place, 0o755 if member.isdir() or member.mode & 0o100 else 0o644)
