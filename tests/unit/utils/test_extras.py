"""What a message tells whoever lacks a package is a command that works where they are."""

import re
import shlex
import subprocess
import sys
import tomllib

from utils import extras


def test_a_checkout_names_its_own_folder():
    words = shlex.split(extras.install_line("chess-engines"))
    assert words[:4] == [sys.executable, "-m", "pip", "install"]
    folder, _, extra = words[-1].partition("[")
    assert extra == "chess-engines]" and words[-2] == "-e"
    done = subprocess.run([sys.executable, "-c", "import utils.extras"], cwd=folder, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_an_installed_copy_names_the_packages_of_the_extra(monkeypatch, tmp_path):
    """The copy may have been installed from a file: no index need know `swarm-evo`."""
    monkeypatch.setattr(extras, "_ROOT", tmp_path)
    wanted = [
        "pydantic>=2",
        "pyarrow>=14; extra == 'tables'",
        'openpyxl>=3.1 ; extra == "tables"',
        "ray; extra == 'ray'",
    ]
    monkeypatch.setattr(extras, "requires", lambda name: wanted)
    assert shlex.split(extras.install_line("tables"))[-3:] == ["install", "pyarrow>=14", "openpyxl>=3.1"]
    assert shlex.split(extras.install_line("nothing"))[-1] == "swarm-evo[nothing]"


def test_the_command_can_be_pasted_and_works_where_uv_made_the_environment(monkeypatch):
    """`No module named pip`, and a path with a blank was two words."""
    monkeypatch.setattr(sys, "executable", "/home/me/my env/bin/python")
    assert shlex.split(extras.installer()) == ["/home/me/my env/bin/python", "-m", "pip", "install"]
    monkeypatch.setattr(extras.importlib.util, "find_spec", lambda name: None)
    assert shlex.split(extras.installer()) == ["uv", "pip", "install", "--python", "/home/me/my env/bin/python"]


def test_every_extra_that_is_told_is_one():
    """`export` told of an extra that no page knew."""
    root = extras._ROOT
    declared = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    page = (root / "README.md").read_text().partition("\nExtras: ")[2].partition(". In a checkout")[0]
    assert set(re.findall(r"`([a-z-]+)`", page)) == set(declared)
    sources = [
        path for folder in ("cli", "core", "problems", "reports", "runs") for path in (root / folder).rglob("*.py")
    ]
    told = {name for path in sources for name in re.findall(r"install_line\(['\"]([a-z-]+)", path.read_text())}
    assert {"tables", "ray"} <= told <= set(declared)
