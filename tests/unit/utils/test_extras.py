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


def test_an_installed_package_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(extras, "_ROOT", tmp_path)
    assert shlex.split(extras.install_line("ray"))[-2:] == ["install", "swarm-evo[ray]"]
