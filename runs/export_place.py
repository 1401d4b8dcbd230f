"""The folder that a solution is exported into: files of the user's own that lie there are kept."""

from __future__ import annotations

from collections.abc import Sequence
from filecmp import cmp
from pathlib import Path

from runs.outcome import DETAIL
from utils.errors import ConfigError
from utils.regular_files import copy_regular


def lay_out(files: Sequence[Path], folder: Path, out: Path) -> list[Path]:
    """Copy `files` of `folder` into `out`; gives what was written. Those of an earlier export give way.

    Raises:
        ConfigError: as `check_free`; then nothing is written. OSError: they cannot be written.
    """
    check_free(files, folder, out)
    written = []
    for target, path in _targets(files, folder, out).items():
        target.parent.mkdir(parents=True, exist_ok=True)
        written.append(copy_regular(path, target))
    return written


def check_free(files: Sequence[Path], folder: Path, out: Path) -> None:
    """Raise ConfigError where other files lie in the place of these, and no export's: an evaluator of the user's is
    called as a copy of it is.
    """
    if (out / DETAIL).is_file():
        return
    targets = _targets(files, folder, out)
    own = [target for target, path in targets.items() if target.is_file() and not cmp(target, path, shallow=False)]
    if own:
        names = ", ".join(str(target.relative_to(out)) for target in own)
        raise ConfigError(f"--out={out}: what lies there as {names} is of no export; name a folder of its own")


def _targets(files: Sequence[Path], folder: Path, out: Path) -> dict[Path, Path]:
    """Place in `out` → file."""
    return {out / path.relative_to(folder): path for path in files}
