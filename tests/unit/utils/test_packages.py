"""Which libraries of boosted trees another interpreter has, read from its folders without starting it."""

from pathlib import Path

import pytest

from utils.packages import boosters, installed_packages


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """An interpreter of a virtual environment with LightGBM and the small XGBoost."""
    for name, version in (("lightgbm", "4.5.0"), ("xgboost_cpu", "3.0.0"), ("numpy", "2.0.0")):
        folder = tmp_path / f"lib/python3.11/site-packages/{name}-{version}.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").touch()
    return tmp_path / "bin" / "python"


def test_boosters_are_those_that_programs_can_import(python):
    assert boosters(str(python)) == ("lightgbm", "xgboost")
    assert installed_packages(("numpy",), str(python)).splitlines() == [
        "Python 3.11",
        "lightgbm==4.5.0", "numpy==2.0.0", "xgboost-cpu==3.0.0",
    ]  # fmt: skip
