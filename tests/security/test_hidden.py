# ruff: noqa: E501 - programs as data
"""Answers that lie inside of installed packages: a candidate finds them in no file and in no memory it is given."""

from __future__ import annotations

import shutil
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.contracts import Limits
from core.executor.inside import hiding
from core.executor.sandbox import open_sandbox
from core.executor.warm import WarmSandbox
from utils.errors import NoSandboxError

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux")
LIMITS = Limits(seconds=30, memory_mb=512)
HERE = Path(__file__).parent
SECRET = "LABEL-" + "81d2"
HIDE = ("answers/data", "answers/one.csv", "answers/deep/*/labels.csv", "answers/coded.py")
PACKAGE = """
import os
HERE = os.path.dirname(__file__)
KEPT = []
for folder, _, names in os.walk(HERE):
    for name in names:
        try:
            KEPT.append(open(os.path.join(folder, name)).read())
        except (OSError, ValueError):
            pass
def load(name):
    return open(os.path.join(HERE, name)).read()
"""
LOOKS = """
import answers, os, sys
mark = "LABEL-" + "81d" + "2"
files = [os.path.join(f, n) for p in {sys.prefix, os.path.realpath(sys.prefix)} for f, _, names in os.walk(p, followlinks=False) for n in names if "answers" in f]
for path in files + [f.replace("/lib/", "/lib64/") for f in files]:
    try:
        if mark.encode() in open(path, "rb").read(): print("WON file", path)
    except OSError: pass
for name in ("data/labels.csv", "one.csv", "deep/er/labels.csv"):
    try:
        if mark in answers.load(name): print("WON load", name)
    except OSError: pass
try:
    import answers.coded
    print("WON import", answers.coded.LABELS)
except (ImportError, AttributeError): pass
if any(mark in text for text in answers.KEPT): print("WON memory")
print("found", answers.load("shown.csv"), flush=True)
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter with a package that holds answers and imports them when it is loaded."""
    top = tmp_path_factory.mktemp("packages") / "venv"
    venv.create(top, with_pip=False, symlinks=True)
    package = next((top / "lib").iterdir()) / "site-packages" / "answers"
    for folder in ("data", "deep/er"):
        (package / folder).mkdir(parents=True)
    (package / "__init__.py").write_text(PACKAGE)
    (package / "coded.py").write_text(f"LABELS = {SECRET!r}\n")
    for name in ("data/labels.csv", "one.csv", "deep/er/labels.csv"):
        (package / name).write_text(SECRET)
    (package / "shown.csv").write_text("a table")
    return str(top / "bin" / "python")


@contextmanager
def opened(tier: str, python: str, state: Path, hide: tuple[str, ...]) -> Iterator[WarmSandbox]:
    try:
        sandbox = open_sandbox(tier, python=python, preload=("answers",), hide=hide, state_dir=state)
    except NoSandboxError as error:
        pytest.skip(str(error))
    assert isinstance(sandbox, WarmSandbox)
    try:
        yield sandbox
    finally:
        sandbox.close()


@pytest.mark.parametrize("tier", ["warm", "lite", "bubblewrap"])
def test_what_is_hidden_is_in_no_file_and_no_memory(tier: str, python: str, tmp_path: Path) -> None:
    with opened(tier, python, tmp_path / "state", HIDE) as sandbox:
        assert sandbox.ready().missing == {} and len(sandbox.ready().hidden) == 4
        for number in range(2):
            (workspace := tmp_path / str(number)).mkdir()
            result = sandbox.run(LOOKS, workspace=workspace, limits=LIMITS)
            assert result.failure is None and result.term_out == "found a table\n", result.term_out
        code = "import answers\ndef f():\n    try: return answers.load('one.csv') + str(answers.KEPT)\n    except OSError: return str(answers.KEPT)"
        for _ in range(2):
            with sandbox.session(code, limits=LIMITS) as session:
                assert SECRET not in str(session.call("f", [], timeout=20))


@pytest.mark.parametrize("tier", ["warm", "lite", "bubblewrap"])
def test_without_hiding_the_same_program_finds_them(tier: str, python: str, tmp_path: Path) -> None:
    with opened(tier, python, tmp_path / "state", ()) as sandbox:
        (workspace := tmp_path / "workspace").mkdir()
        told = sandbox.run(LOOKS, workspace=workspace, limits=LIMITS).term_out
    assert [word for word in ("file", "load", "import", "memory") if f"WON {word}" not in told] == [], told


@pytest.mark.parametrize("tier", ["warm", "lite", "bubblewrap"])
def test_the_attack_on_hidden_files_wins_without_hiding(tier: str, tmp_path: Path) -> None:
    """The control of `programs/218_hidden_data.py`, which must not be run without any sandbox."""
    with opened(tier, sys.executable, tmp_path / "state", ()) as sandbox:
        (workspace := tmp_path / "workspace").mkdir()
        source = (HERE / "programs" / "218_hidden_data.py").read_text()
        told = sandbox.run(source, workspace=workspace, limits=LIMITS).term_out
    assert "ESCAPED open" in told and "ESCAPED import this" in told


def test_our_own_code_is_hidden_where_it_is_installed(tmp_path: Path) -> None:
    """Graders and evaluators lie in it. In a checkout it is outside of what is shown anyway."""
    app = tmp_path / "lib" / "python3.11" / "site-packages" / "swarm_evo" / "_app"
    app.mkdir(parents=True)
    assert hiding.find([str(app)], [str(tmp_path)]) == [str(app)]
    assert hiding.find([str(app)], [str(tmp_path / "lib" / "elsewhere")]) == []


def test_of_a_project_in_what_is_shown_its_interpreter_stays(tmp_path: Path) -> None:
    """A project below /usr with a virtual environment in it, and one that is an environment itself."""
    project = tmp_path / "src" / "app"
    tools = project / "tools" / "bin"
    for folder in ("data", "lib", ".venv/lib", "tools/bin", "tools/notes"):
        (project / folder).mkdir(parents=True)
    (project / ".venv" / "pyvenv.cfg").touch()
    patterns, shown = [str(project / name) for name in ("data", ".venv", "tools", "lib")], [str(tmp_path)]
    found = hiding.find(patterns, [*shown, str(project / ".venv")], [str(tools)])
    assert found == [str(project / name) for name in ("data", "lib", "tools/notes")]
    assert hiding.find([str(project)], shown) == [str(project)]
    (project / "pyvenv.cfg").touch()
    assert hiding.find([str(project)], [str(project)]) == [str(project / n) for n in (".venv", "data", "tools")]


def test_copies_in_other_folders_of_packages_are_found(tmp_path: Path) -> None:
    folders = ("lib/python3.11/site-packages", "pkgs/x-1/lib/python3.9/site-packages", "lib/python3/dist-packages")
    for folder in folders:
        (tmp_path / folder / "sklearn" / "datasets" / "data").mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / folders[0])
    found = hiding.find(["sklearn/datasets/data", "sklearn/datasets/data/iris.csv"], [str(tmp_path)])
    assert found == sorted(str(tmp_path / folder / "sklearn" / "datasets" / "data") for folder in folders)
    whole, listed = hiding.around([str(tmp_path)], found)
    assert str(tmp_path) in listed and not any(path in found or found[0].startswith(path + "/") for path in whole)
    shutil.rmtree(tmp_path / "pkgs")


@pytest.mark.parametrize("tier", ["warm", "lite"])
def test_what_becomes_known_later_is_hidden_as_well(tier: str, python: str, tmp_path: Path) -> None:
    """Where it lies in what programs see, in a server that has never seen it; elsewhere the server stays."""
    package = next((Path(python).parents[1] / "lib").iterdir()) / "site-packages" / "answers"
    with opened(tier, python, tmp_path / "state", ()) as sandbox:
        first = sandbox._server._process
        sandbox.hide([str(tmp_path / "private" / "*.csv")])
        assert sandbox.ready().hidden is not None and sandbox._server._process is first
        sandbox.hide([str(package / "data"), str(package / "*.csv"), str(package / "deep"), str(package / "coded.py")])
        (workspace := tmp_path / "workspace").mkdir()
        told = sandbox.run(LOOKS, workspace=workspace, limits=LIMITS).term_out
        assert "WON" not in told and sandbox._server._process is not first
