"""What the fork server does for its own start is not seen by the programs that are forked from it."""

from __future__ import annotations

import inspect
import shutil
import subprocess
import sys
import sysconfig
from contextlib import closing
from pathlib import Path

import pytest

from core.contracts import Limits
from core.executor import server
from core.executor.inside import fork_server
from core.executor.sandbox import open_sandbox
from core.executor.server import ServerConfig

LIMITS = Limits(seconds=30, memory_mb=512)


@pytest.mark.parametrize("preload", ["decimal", "numpy"])
def test_programs_collect_garbage_as_python_does(preload, tmp_path):
    (tmp_path / "workspace").mkdir()
    told = "import gc; print(gc.isenabled(), *gc.get_threshold())"
    usual = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True).stdout
    with closing(open_sandbox("auto", preload=(preload,), state_dir=tmp_path / "state")) as sandbox:
        result = sandbox.run(told, workspace=tmp_path / "workspace", limits=LIMITS)
    assert result.term_out == usual


def test_programs_find_docstrings_of_what_was_imported_without_making_any(tmp_path):
    """What scipy makes of its docstrings was a quarter of the server's start."""
    (tmp_path / "workspace").mkdir()
    code = (
        "import inspect, numpy, scipy.stats\n"
        "print(inspect.getdoc.__module__, inspect.getdoc(numpy.mean) == inspect.cleandoc(numpy.mean.__doc__))\n"
        "print(scipy.stats.ttest_ind([1.0, 2, 4], [2.0, 3, 7], axis=0).statistic < 0, scipy.stats.iqr.__name__)\n"
        "print('Performs the test' in scipy.stats.ttest_ind.__doc__, 'equal_var' in scipy.stats.ttest_ind.__doc__)\n"
    )
    with closing(open_sandbox("auto", preload=("scipy.stats",), state_dir=tmp_path / "state")) as sandbox:
        result = sandbox.run(code, workspace=tmp_path / "workspace", limits=LIMITS)
    assert result.term_out.split() == ["inspect", "True", "True", "iqr", "False", "False"]


def test_who_keeps_the_question_for_docstrings_has_them_after_the_import():
    with fork_server._without_docs():
        from inspect import getdoc as kept

        assert kept(print) == inspect.getdoc(print) == ""
    assert kept(print) == inspect.getdoc(print) == inspect.cleandoc(print.__doc__ or "")


def test_a_package_that_reads_its_docstrings_is_imported_with_them(tmp_path, monkeypatch):
    (tmp_path / "reads_docs.py").write_text(
        '"""It is read."""\nimport inspect, sys\nread = inspect.getdoc(sys.modules[__name__])[0]\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    fork_server._import_known("reads_docs")
    assert sys.modules.pop("reads_docs").read == "I"


def test_our_own_code_is_compiled_once_and_nothing_that_is_imported_for_programs(tmp_path):
    """It was compiled at every start: 0.1 s, as the server was told to leave no byte code at all."""
    ours = tmp_path / "inside"
    shutil.copytree(Path(fork_server.__file__).parent, ours, ignore=shutil.ignore_patterns("__pycache__"))
    site = Path(sysconfig.get_path("purelib", vars={"base": str(tmp_path / "venv")}))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    (site / "named.py").write_text("FOUND = 1")
    config = ServerConfig("none", str(tmp_path / "venv" / "bin" / "python"), ("named",), tmp_path / "state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "_SCRIPT", ours / "start.py")
        patch.setattr(sys, "dont_write_bytecode", False)
        with closing(server.ForkServer(config)) as started:
            assert started.ready().missing == {}
    kept = {path.name.partition(".")[0] for path in (ours / "__pycache__").iterdir()}
    assert {"candidate", "fork_server", "supervisor"} <= kept
    assert not (site / "__pycache__").exists()
