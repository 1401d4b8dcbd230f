"""Imports a competition's `prepare.py` and `grade.py` as they are, and stands in for the package `mlebench`.

MLE-bench's competition folders import a few helpers from `mlebench`: the package itself where it is there, else what
stands in for it here. Dotted paths of a `config.yaml` (`mlebench.competitions.x-y.grade:grade`) are resolved against
the folder itself.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import logging
import shutil
import sys
import tarfile
import types
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from ..tables.exact import EXACT, read_answers
from . import helpers, metrics, real_package
from .stand_ins import get_ids_from_tf_records, stand_in


class InvalidSubmissionError(Exception):
    """What a grader raises for a submission that cannot be graded (`mlebench.grade_helpers`)."""


def refusals() -> tuple[type[Exception], ...]:
    """What graders raise for a submission that cannot be graded: ours, and that of the package itself where it is."""
    theirs = getattr(sys.modules.get("mlebench.grade_helpers"), "InvalidSubmissionError", InvalidSubmissionError)
    return (InvalidSubmissionError, theirs)


def import_function(folder: Path, dotted: str, *, real: bool = True) -> Callable[..., Any]:
    """`module:function` of a competition folder: the last part of the module's name is a file in it.

    Args:
        real: as of `install`.
    """
    module_name, _, name = dotted.partition(":")
    path = folder / f"{module_name.rpartition('.')[2]}.py"
    if not path.is_file():
        raise FileNotFoundError(f"'{dotted}' needs the file '{path}'")
    install(folder, real=real)
    full = f"mlebench.competitions.{folder.name}.{path.stem}"
    spec = importlib.util.spec_from_file_location(full, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[full] = module
    while True:
        try:
            spec.loader.exec_module(module)
            break
        except ModuleNotFoundError as error:
            if not stand_in(error):
                raise
    return _ending_nothing(getattr(module, name or path.stem), dotted)


def _ending_nothing(function: Callable[..., Any], dotted: str) -> Callable[..., Any]:
    """The function; where it would end this process, it raises."""

    def called(*given: Any) -> Any:
        try:
            return function(*given)
        except SystemExit as error:
            raise RuntimeError(f"{dotted} ends the process (sys.exit: {error})") from error

    return called


def install(folder: Path, *, real: bool = True) -> str:
    """Put `mlebench` into `sys.modules`, with `folder` as a competition that can be imported from; say where it comes
    from, '' for what stands in for it.

    Args:
        real: the package itself is taken where it is there. Our own competitions need none.
    """
    package = sys.modules.get("mlebench")
    if package is None:
        _without_bars()
        origin = real_package.load(folder) if real else ""
        if not origin:
            _stand_in()
        package = sys.modules["mlebench"]
        vars(package)["_origin"] = origin
    shared = sys.modules["mlebench.competitions"]
    places = [str(folder.parent), *shared.__path__]  # what competitions share lies beside them
    shared.__path__ = list(dict.fromkeys(places))
    competition = _module(f"mlebench.competitions.{folder.name}")
    competition.__path__ = [str(folder)]
    return str(vars(package)["_origin"])


def _stand_in() -> None:
    _module("mlebench").__path__ = []
    _module("mlebench.grade_helpers", InvalidSubmissionError=InvalidSubmissionError)
    _module("mlebench.utils", **_helpers())
    _module("mlebench.metrics", **_public(metrics))
    _module("mlebench.competitions").__path__ = []
    others = {
        **helpers.helpers(InvalidSubmissionError),
        "get_ids_from_tf_records": get_ids_from_tf_records,
    }
    _module("mlebench.competitions.utils", **{**_helpers(), **others})


def _without_bars() -> None:
    """Progress bars of `prepare`, where they are not installed: nobody sees them."""
    if importlib.util.find_spec("tqdm") is None:
        _module("tqdm", tqdm=_plain_loop).__path__ = []
        _module("tqdm.auto", tqdm=_plain_loop)


def _public(module: types.ModuleType) -> dict[str, Any]:
    return {name: value for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__}


def _plain_loop(items: Any = (), *args: Any, **kwargs: Any) -> Any:
    return items


def _module(name: str, **content: Any) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__dict__.update(content)
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)
    return module


def _helpers() -> dict[str, Any]:
    return {
        "read_csv": read_csv, "read_jsonl": _read_jsonl, "load_answers": read_answers, "get_logger": get_logger,
        "extract": extract, "compress": _compress, "is_compressed": _is_compressed, "is_empty": _is_empty,
        "load_yaml": _load_yaml, "import_fn": _import_fn, "get_checksum": _checksum, "get_timestamp": lambda: "",
    }  # fmt: skip


def read_csv(*args: Any, **kwargs: Any) -> Any:
    """`pandas.read_csv` with floats read to the last digit; an empty file is an empty table."""
    try:
        return pd.read_csv(*args, **{**EXACT, **kwargs})
    except pd.errors.EmptyDataError:
        return pd.DataFrame()


def get_logger(name: str, level: int = logging.INFO, filename: Path | None = None) -> logging.Logger:
    return logging.getLogger(name)


def extract(compressed: Path, dst: Path, recursive: bool = False, already_extracted: set[Path] | None = None) -> None:
    """Unpack a zip or tar archive into `dst`; with `recursive`, the archives inside it too."""
    compressed, dst = Path(compressed), Path(dst)
    done = {compressed} if already_extracted is None else already_extracted | {compressed}
    dst.mkdir(parents=True, exist_ok=True)
    if zipfile.is_zipfile(compressed):
        with zipfile.ZipFile(compressed) as archive:
            archive.extractall(dst)
    else:
        with tarfile.open(compressed) as tar:
            if hasattr(tarfile, "data_filter"):  # Python 3.11.4 and newer
                tar.extractall(dst, filter="data")
            else:
                tar.extractall(dst)
    if recursive:
        for inner in [path for path in dst.iterdir() if path not in done and _is_compressed(path)]:
            extract(inner, dst, recursive=True, already_extracted=done)


def _is_compressed(path: Path) -> bool:
    return Path(path).suffix in {".zip", ".tar", ".gz", ".tgz", ".rar", ".7z"}


def _is_empty(dir: Path) -> bool:
    return not any(Path(dir).iterdir())


def _compress(src: Path, compressed: Path, exist_ok: bool = False) -> None:
    if Path(compressed).exists() and not exist_ok:
        raise FileExistsError(compressed)
    shutil.make_archive(str(Path(compressed).with_suffix("")), "zip", src)


def _read_jsonl(file_path: str, skip_commented_out_lines: bool = False) -> list[Any]:
    lines = Path(file_path).read_text(encoding="utf-8").splitlines()
    if skip_commented_out_lines:
        lines = [line for line in lines if line.strip() and not line.strip().startswith(("#", "//"))]
    return [json.loads(line) for line in lines]


def _load_yaml(fpath: Path) -> Any:
    import yaml

    return yaml.safe_load(Path(fpath).read_text(encoding="utf-8"))


def _import_fn(dotted: str) -> Any:
    module, _, name = dotted.partition(":")
    return getattr(importlib.import_module(module), name)


def _checksum(fpath: Path) -> str:
    return hashlib.md5(Path(fpath).read_bytes(), usedforsecurity=False).hexdigest()
