"""The package `mlebench` itself, where it is: in the checkout that a competition's folder lies in, else installed.

Only what graders import of it is loaded. Packages that it needs and that are missing are stood in for, as for graders.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

from .stand_ins import get_ids_from_tf_records, stand_in

NAME = "mlebench"
PARTS = ("grade_helpers", "utils", "metrics", "competitions", "competitions.utils")
"""What competitions import of it."""


def load(folder: Path) -> str:
    """Put the package into `sys.modules` and say where it comes from; '' and nothing left of it where it is not there,
    or where it cannot be imported."""
    installed = "the installed package"
    beside = (
        installed if any(place.name.endswith("-packages") for place in folder.resolve().parents) else "its checkout"
    )
    for place, spec in ((beside, _beside(folder)), (installed, _installed())):
        if spec is not None and _imported(spec):
            return place
        for name in [name for name in sys.modules if name == NAME or name.startswith(f"{NAME}.")]:
            del sys.modules[name]
    return ""


def _beside(folder: Path) -> ModuleSpec | None:
    """Of a folder `mlebench/competitions/NAME` in a checkout."""
    package = folder.resolve().parent.parent
    begin = package / "__init__.py"
    if package.name != NAME or not begin.is_file() or not (package / "utils.py").is_file():
        return None
    return importlib.util.spec_from_file_location(NAME, begin, submodule_search_locations=[str(package)])


def _installed() -> ModuleSpec | None:
    try:
        spec = importlib.util.find_spec(NAME)
    except (ImportError, ValueError):
        return None
    return spec if spec is not None and spec.loader is not None else None


def _imported(spec: ModuleSpec) -> bool:
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module
    try:
        spec.loader.exec_module(module)
        for part in PARTS:
            _part(f"{NAME}.{part}")
        if importlib.util.find_spec("tensorflow") is None:  # it would be imported when records are read, and no sooner
            vars(sys.modules[f"{NAME}.competitions.utils"])["get_ids_from_tf_records"] = get_ids_from_tf_records
    except Exception:  # noqa: BLE001 - somebody else's package, of any version: what it needs has a stand-in
        return False
    return True


def _part(name: str) -> None:
    while True:
        try:
            importlib.import_module(name)
            return
        except ModuleNotFoundError as error:
            if not stand_in(error):
                raise
