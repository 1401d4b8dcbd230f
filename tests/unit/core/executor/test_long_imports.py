"""A session's program is forked from an interpreter that holds what it imports."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from contextlib import closing
from pathlib import Path

import pytest

from core.contracts import Limits, SessionFailure
from core.executor.long_imports import long_imports
from core.executor.sandbox import open_sandbox
from core.executor.server import ServerConfig
from core.executor.warm import WarmSandbox
from core.state.failure import FailureKind

LIMITS = Limits(seconds=60, memory_mb=1024)
FOUND = "import sys\nBEFORE = [name for name in ('numpy', 'scipy', 'pandas') if name in sys.modules]\n"
TOLD = "def found(): return BEFORE\ndef draw(): return float(numpy.random.rand())\n"


@pytest.mark.parametrize(
    ("program", "named"),
    [
        ("import math, random\nx = 'import numpy'", ()),
        ("# numpy is not needed\nfrom collections import deque", ()),
        ("import numpy as np", ("numpy",)),
        ("import math, numpy", ("numpy",)),
        ("def f():\n    from scipy.optimize import minimize", ("numpy", "scipy")),
        ("import sklearn", ("numpy", "scipy", "pandas", "sklearn")),
        ("import numpyro", ()),
        ("from torch import nn", ("numpy", "scipy", "pandas", "sklearn", "torch")),
    ],
)
def test_what_a_program_names_in_its_imports(program, named):
    assert long_imports(program) == named


def test_what_is_loaded_is_not_named_again():
    assert long_imports("import numpy", ("math", "numpy")) == ()
    assert long_imports("import numpy", ("sklearn",)) == ()
    assert long_imports("import scipy", ("math", "numpy")) == ("scipy",)


def test_a_program_finds_loaded_what_it_imports_and_nothing_else(tmp_path):
    with closing(open_sandbox("auto", preload=("math",), state_dir=tmp_path)) as sandbox:
        if sandbox.tier == "bubblewrap":
            pytest.skip("each program has a fresh interpreter")

        def found(imports: str) -> list[str]:
            with sandbox.session(FOUND + imports + TOLD, limits=LIMITS) as session:
                return list(session.call("found", [], timeout=60))

        kinds = ["", "import numpy\n", "from scipy import special\n"]
        assert [found(kind) for kind in (*kinds, *reversed(kinds))] == [
            [], ["numpy"], ["numpy", "scipy"], ["numpy", "scipy"], ["numpy"], []
        ]  # fmt: skip


def test_a_whole_script_finds_loaded_what_it_imports(tmp_path):
    """One that imports what its problem does not preload took seconds for it each time."""
    with closing(open_sandbox("auto", preload=("math",), state_dir=tmp_path / "state")) as sandbox:
        if sandbox.tier == "bubblewrap":
            pytest.skip("each program has a fresh interpreter")
        (tmp_path / "work").mkdir()
        told = sandbox.run(f"{FOUND}import scipy\nprint(BEFORE)", workspace=tmp_path / "work", limits=LIMITS)
        assert told.term_out == "['numpy', 'scipy']\n"


def test_equal_seeds_draw_equal_numbers_wherever_numpy_is_loaded(tmp_path):
    drawn = []
    for place, preload in enumerate([("math",), ("math", "numpy")]):
        with closing(open_sandbox("auto", preload=preload, state_dir=tmp_path / str(place))) as sandbox:
            for program in ("import numpy\n" + TOLD, "numpy = __import__('numpy')\n" + TOLD):
                with sandbox.session(program, limits=LIMITS, seed=7) as session:
                    drawn.append(session.call("draw", [], timeout=60))
    assert len(set(drawn)) == 1


def test_an_interpreter_that_dies_of_a_package_is_no_fault_of_ours(tmp_path):
    """Who imports it dies of it, and nobody else."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    package = Path(sysconfig.get_path("purelib", vars={"base": str(venv)})) / "numpy"
    package.mkdir()
    (package / "__init__.py").write_text("import os\nos.kill(os.getpid(), 9)\n")
    config = ServerConfig("none", str(venv / "bin" / "python"), ("math",), tmp_path / "state")
    with closing(WarmSandbox(config)) as sandbox:
        for _ in range(2):
            with pytest.raises(SessionFailure) as raised, sandbox.session("import numpy", limits=LIMITS) as session:
                session.call("f", [], timeout=60)
            assert raised.value.result.failure is FailureKind.SIGNAL
            with sandbox.session("def f(): return 3", limits=LIMITS) as session:
                assert session.call("f", [], timeout=60) == 3
