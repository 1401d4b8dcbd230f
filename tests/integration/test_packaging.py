"""The packaging trap of `core`, `utils` and `agents`: names that every ML repository uses too.

The wheel is built without isolation and without network, and installed into an environment that sees the packages of
this one. Every way to start is tried from a folder that holds foreign `utils.py`, `core/` and `agents/`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from support.command_line import ROOT, toy_words
from support.once import made_once

pytest.importorskip("hatchling", reason="the wheel's builder (hatchling) is not installed")

FOREIGN = 'raise ImportError("a foreign module was imported")\n'


def ran(command: list[str], cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    clean |= {"SWARM_EVO__LOGGING__REPORT": "false"}  # unless a test asks for it
    return subprocess.run(
        command, cwd=cwd, env={**clean, **environment}, capture_output=True, text=True, timeout=100, check=False
    )


def built(out: Path, kind: str = "wheel", source: Path = ROOT) -> Path:
    code = f"import hatchling.build, sys; print(hatchling.build.build_{kind}(sys.argv[1]))"
    done = ran([sys.executable, "-c", code, str(out)], source)
    assert done.returncode == 0, done.stderr
    (found,) = out.iterdir()
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    (found,) = made_once(tmp_path_factory, "wheel", built).iterdir()
    return found


@pytest.fixture(scope="module")
def installed(tmp_path_factory, wheel) -> Path:
    """The bin folder of an environment that holds the wheel alone and sees our packages."""
    place = tmp_path_factory.mktemp("env")
    venv.create(place, with_pip=False, symlinks=True)
    (site,) = place.glob("lib/python*/site-packages")
    ours = [p for p in sys.path if p.endswith("site-packages")]
    done = ran(
        [sys.executable, "-m", "pip", "--python", str(place / "bin" / "python"), "install", "--no-deps", "--no-index",
         "--quiet", str(wheel)], tmp_path_factory.mktemp("cwd"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (site / "packages.pth").write_text("\n".join(ours) + "\n")
    return place / "bin"


@pytest.fixture
def trap(tmp_path) -> Path:
    """A folder full of foreign modules with our names."""
    (tmp_path / "utils.py").write_text(FOREIGN)
    for name in ("core", "agents", "cli", "problems", "reports", "dashboard"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(FOREIGN)
    for name in ("main", "numbers", "email"):  # of ours, and such of the standard library as the package loads later
        (tmp_path / f"{name}.py").write_text(FOREIGN)
    return tmp_path


@pytest.fixture
def deep_trap(trap) -> Path:
    """With modules that Python itself loads early, too: `python -c` would meet them before anything of ours."""
    for name in ("random", "token", "json", "re", "math"):
        (trap / f"{name}.py").write_text(FOREIGN)
    return trap


def test_only_one_name_goes_into_site_packages(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"swarm_evo", *(top for top in tops if top.endswith(".dist-info"))} and len(tops) == 2
    for part in ("main.py", "cli/run.py", "config/default.yaml", "core/contracts/plugging.py", "utils/errors.py",
                 "agents/coder_agent.py", "problems/competition/problem.py", "dashboard/server/app.py",
                 "reports/html.py"):  # fmt: skip
        assert f"swarm_evo/_app/{part}" in names
    junk = [n for n in names if "__pycache__" in n or "node_modules" in n or n.endswith((".pyc", ".log", ".db"))]
    assert not junk
    assert any(name.endswith("LICENSE") for name in names)


def test_an_editable_install_copies_nothing(tmp_path):
    """7 MB of the application lay beside the checkout that it was read from, and grew old."""
    names = zipfile.ZipFile(built(tmp_path, "editable")).namelist()
    assert all(name.endswith(".pth") or ".dist-info/" in name for name in names) and len(names) < 10


def test_a_wheel_made_of_the_sources_alone_has_the_page(tmp_path):
    """So `uv build` and `python -m build` make theirs: without what git ignores it had none, and nothing told it."""
    from hatch_build import APPLICATION, PAGE

    source, page = tmp_path / "checkout", f"{PAGE}/index.html"
    kept = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitignore", "swarm_evo/__init__.py")
    invented = [name if "." in name else f"{name}/one.py" for name in APPLICATION]
    for name in (*kept, *invented, page):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes() if name in kept else b"")
    shutil.unpack_archive(built(tmp_path / "sdist", "sdist", source), tmp_path / "unpacked")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    assert f"swarm_evo/_app/{page}" in zipfile.ZipFile(built(tmp_path / "wheel", "wheel", unpacked)).namelist()


def test_prompts_and_data_files_are_in_the_wheel(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    listed = ran(
        ["git", "ls-files", "agents", "cli", "problems", "config", "reports", "dashboard/server"], ROOT
    ).stdout.split()
    if not listed:
        pytest.skip("not a git checkout")
    missing = [name for name in listed if (ROOT / name).is_file() and f"swarm_evo/_app/{name}" not in names]
    assert not missing


def test_no_link_is_kept_in_the_checkout():
    """One would lead to a place of whoever made it: an attack's victim was committed so."""
    kept = ran(["git", "ls-files", "--stage"], ROOT).stdout.splitlines()
    if not kept:
        pytest.skip("not a git checkout")
    assert [line for line in kept if line.startswith("120000")] == []


@pytest.mark.long
@pytest.mark.parametrize("start", ["swarm-evo", pytest.param("python -m swarm_evo", marks=pytest.mark.long)])
def test_the_installed_command_searches_among_foreign_modules(installed, deep_trap, start):
    command = [str(installed / word) if i == 0 else word for i, word in enumerate(start.split())]
    words = ["logging.report=true", "search.max_steps=2"]
    words += ["problem.kind=toy", *[w for w in toy_words(2) if w.startswith("problem.plugins")]]
    done = ran([*command, *words], deep_trap)
    assert done.returncode == 0, done.stderr
    assert "max_steps: 2 of 2" in done.stdout and "foreign" not in done.stdout + done.stderr
    assert (deep_trap / "logs" / "system.log").is_symlink() and next(deep_trap.glob("logs/*/report.html"))


@pytest.mark.long
def test_main_py_of_a_checkout_among_foreign_modules(deep_trap):
    done = ran([sys.executable, str(ROOT / "main.py"), *toy_words(2)], deep_trap)
    assert done.returncode == 0, done.stderr
    done = ran(
        [sys.executable, "-m", "swarm_evo", "list-runs", "--json"], deep_trap, PYTHONPATH=str(ROOT / "swarm_evo" / "..")
    )
    assert done.returncode == 0 and '"toy"' in done.stdout, done.stderr


@pytest.mark.long
def test_an_installed_copy_without_the_page_says_where_it_is_built(installed, tmp_path):
    """There is no Makefile to type `make dashboard` in."""
    code = (
        "import sys, swarm_evo, pathlib\n"
        "sys.path.insert(0, str(pathlib.Path(swarm_evo.__file__).parent / '_app'))\n"
        "from dashboard.server.page import NOT_BUILT\n"
        "print(NOT_BUILT)"
    )
    done = ran([str(installed / "python"), "-c", code], tmp_path)
    assert done.returncode == 0, done.stderr
    assert "make page &amp;&amp; pip install ." in done.stdout and "make dashboard" not in done.stdout


@pytest.mark.long
def test_the_python_api_of_the_wheel_among_foreign_modules(installed, trap):
    plugins = toy_words(2)[1].partition("=")[2]
    code = (
        "import swarm_evo, sys\n"
        f"r = swarm_evo.search(problem__kind='toy', problem__plugins={plugins!r}, budget={{'steps': 2}})\n"
        "print(r.best.metric, sorted({'core', 'utils', 'agents'} & set(sys.modules)))"
    )
    done = ran([str(installed / "python"), "-c", code], trap)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("[]")


@pytest.mark.long
def test_a_competition_runs_from_the_wheel_among_foreign_modules(installed, trap):
    """Its data are prepared, its programs run and its grades are given by children: none may meet our names."""
    words = ["--problem.name=diabetes", "search.max_steps=2", "search.num_drafts=2"]
    done = ran([str(installed / "swarm-evo"), *words, f"execution.python={sys.executable}"], trap)
    assert done.returncode == 0, done.stderr
    assert "best RMSE" in done.stdout, done.stdout
