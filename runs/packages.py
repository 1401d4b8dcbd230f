"""Installed packages with versions, as prompts list them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

_DISTRIBUTION = {"sklearn": "scikit-learn", "cv2": "opencv-python", "PIL": "pillow", "chess": "chess"}
_USUAL = (
    "numpy", "pandas", "scipy", "scikit-learn", "lightgbm", "xgboost", "catboost", "torch", "torchvision",
    "transformers", "statsmodels", "joblib", "rust-chess",
)  # fmt: skip


def installed_packages(preload: Sequence[str], python: str | None = None) -> str:
    """`name==version` a line: what the problem preloads and the usual libraries that are here.

    With `python` (the user's interpreter) only names are known to us here; it is asked by the sandbox's probe.
    """
    if python:
        return f"(packages of {python})"
    names = dict.fromkeys([*(_DISTRIBUTION.get(m.split(".")[0], m.split(".")[0]) for m in preload), *_USUAL])
    lines = []
    for name in names:
        try:
            lines.append(f"{name}=={version(name)}")
        except PackageNotFoundError:
            continue
    return "\n".join(sorted(lines))
