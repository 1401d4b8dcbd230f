"""Installed packages with versions, as prompts list them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.metadata import Distribution, distributions
from pathlib import Path

_DISTRIBUTION = {"sklearn": "scikit-learn", "cv2": "opencv-python", "PIL": "pillow"}
_VERSION_LINE = re.compile(r"(?m)^Version: (\S+)$")
_MISSING = re.compile(r"No module named '([\w.]{1,80})'")
_NAMED = re.compile(r"python(3\.\d+)t?")
_USUAL = (
    "numpy", "pandas", "polars", "scipy", "scikit-learn", "lightgbm", "xgboost", "xgboost-cpu", "catboost", "torch",
    "torchvision", "torchaudio", "pytorch-lightning", "timm", "transformers", "sentence-transformers", "triton", "jax",
    "flax", "cupy-cuda12x", "cupy-cuda13x", "tensorflow", "keras", "pillow", "opencv-python", "opencv-python-headless",
    "scikit-image", "librosa", "nltk", "spacy", "statsmodels", "joblib", "numba", "sympy", "networkx", "ortools",
    "cvxpy",
)  # fmt: skip


def installed_packages(preload: Sequence[str], python: str | None = None) -> str:
    """`Python 3.12` and `name==version` a line: what the problem preloads and the usual libraries that programs find.

    Args:
        python: the interpreter that programs run in, where it is another than ours.
    """
    names = dict.fromkeys([*(_DISTRIBUTION.get(m.split(".")[0], m.split(".")[0]) for m in preload), *_USUAL])
    places = sys.path if python is None else _site_packages(Path(python))
    found = versions(names, places)
    return "\n".join([*_version(python), *sorted(f"{name}=={version}" for name, version in found.items())])


def versions(names: Iterable[str], places: Sequence[str] | None = None) -> dict[str, str]:
    """Name → version of those of the packages that are installed in these folders; without, where we are."""
    places = sys.path if places is None else places
    known = tuple(place for place in places if place)  # '' is where somebody stands, and holds no packages
    found = {name: _version_in(known, name) for name in names}
    return {name: version for name, version in found.items() if version is not None}


@lru_cache(maxsize=1000)
def _version_in(places: tuple[str, ...], name: str) -> str | None:
    """Sought once a process: what is installed while it runs it would not import anew either."""
    found = next(iter(distributions(name=name, path=list(places))), None)
    return None if found is None else _version_of(found)


def _version_of(package: Distribution) -> str:
    """Read from its first lines: `Distribution.version` parses the whole description as an e-mail."""
    head = _VERSION_LINE.search(package.read_text("METADATA") or "")
    return head[1] if head else package.version


def missing_module(text: str) -> str:
    """The last module that a traceback, or the message of one, says is not there; ''."""
    return next(reversed(_MISSING.findall(text)), "")


def boosters(python: str | None = None) -> tuple[str, ...]:
    """Modules of boosted trees beside scikit-learn that programs can import."""
    found = {line.partition("==")[0].removesuffix("-cpu") for line in installed_packages((), python).splitlines()}
    return tuple(name for name in ("lightgbm", "xgboost", "catboost") if name in found)


def has_pillow(python: str | None = None) -> bool:
    """True if programs can import what reads images."""
    return "\npillow==" in installed_packages((), python)


def has_pyarrow(python: str | None = None) -> bool:
    """True if programs can import what reads Parquet."""
    return bool(versions(("pyarrow",), None if python is None else _site_packages(Path(python))))


def packages_elsewhere(python: str | None, *paths: Path) -> list[str]:
    """Folders of packages of other environments than ours: the interpreter's, and those that the paths lie in.

    Only of our version of Python, since compiled packages fit no other.
    """
    ours = f"python{sys.version_info.major}.{sys.version_info.minor}"
    places = [] if python is None else [Path(place) for place in _site_packages(Path(python))]
    places += [place for path in paths for place in path.absolute().parents if place.name.endswith("-packages")]
    return [
        place for place in dict.fromkeys(map(str, places)) if Path(place).parent.name == ours and place not in sys.path
    ]


def _version(python: str | None) -> list[str]:
    """`Python 3.12`, as programs find it; [] where nothing tells it without starting the interpreter."""
    if python is None:
        return [f"Python {sys.version_info.major}.{sys.version_info.minor}"]
    path = Path(python)
    names = [path.resolve().name, path.name, *(Path(place).parent.name for place in _site_packages(path))]
    found = next((match for name in names if (match := _NAMED.fullmatch(name))), None)
    return [f"Python {found[1]}"] if found else []


def _site_packages(python: Path) -> list[str]:
    """Of a virtual environment, and of the installation that it was made from."""
    homes = dict.fromkeys([python.absolute().parent.parent, python.resolve().parent.parent])
    return [str(path) for home in homes for path in sorted(home.glob("lib*/python3*/*-packages"))]
