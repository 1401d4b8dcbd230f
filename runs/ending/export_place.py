"""The folder that a solution is exported into: files of the user's own that lie there are kept."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from filecmp import cmp
from pathlib import Path

from runs.recorded.files import BEST, DETAIL, is_recorded, of_another, recording
from utils.errors import ConfigError
from utils.file_utils import in_place_of
from utils.regular_files import copy_regular


def lay_out(files: Sequence[Path], folder: Path, out: Path) -> list[Path]:
    """Copy `files` of `folder` into `out`; gives what was written. Those of an earlier export give way.

    Raises:
        ConfigError: as `check_free`; then nothing is written. OSError: they cannot be written.
    """
    check_free(files, folder, out)
    return _laid(files, folder, out)


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


def lay_out_own(files: Sequence[Path], folder: Path, run_dir: Path, node_id: str) -> list[Path]:
    """The same in the run's own folder, which records its files; nothing is left there of another program. Where they
    lie there and are recorded, nothing is written.

    Args:
        node_id: whose they are.
    """
    out = run_dir / BEST
    targets = _targets(files, folder, out)
    others = [path for path in of_another(run_dir, node_id) if path not in targets and path.exists()]
    same = all(target.is_file() and cmp(target, path, shallow=False) for target, path in targets.items())
    if not (same and not others and is_recorded(run_dir)):
        with recording(run_dir):
            _laid(files, folder, out)
            for path in others:
                path.unlink(missing_ok=True)
    return list(targets)


def _laid(files: Sequence[Path], folder: Path, out: Path) -> list[Path]:
    """All of them, or on a full disk none: what lay there is whole."""
    targets = _targets(files, folder, out)
    with ExitStack() as beside:
        for target, path in targets.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            copy_regular(path, beside.enter_context(in_place_of(target)))
    return list(targets)


def _targets(files: Sequence[Path], folder: Path, out: Path) -> dict[Path, Path]:
    """Place in `out` → file."""
    return {out / path.relative_to(folder): path for path in files}
