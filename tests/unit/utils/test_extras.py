"""What a message tells whoever lacks a package is a command that works where they are."""

import shlex
import subprocess
import sys

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
