"""What runs in the user's interpreter, in the sandbox and beside his evaluator, is understood by Python 3.9."""

from __future__ import annotations

import ast
import builtins
import importlib.machinery
import importlib.util
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from core.contracts import Limits
from core.evaluation.isolation.stand_in import StandIn
from core.executor import inside
from core.executor.inside import hiding
from core.executor.sandbox import open_sandbox
from utils.errors import NoSandboxError

ROOT = Path(__file__).parents[4]
MODULES = [
    *sorted(Path(inside.__file__).parent.glob("*.py")),
    *sorted(
        path
        for path in (ROOT / "core" / "evaluation" / "isolation").glob("*.py")
        if "Standard library only" in path.read_text(encoding="utf-8")
    ),
    ROOT / "problems" / "script" / "harness.py",
]
KNOWN = {
    "typing": {"Any", "Callable", "ClassVar", "NoReturn", "Protocol", "TYPE_CHECKING", "cast"},
    "types": {"CodeType", "FrameType", "ModuleType", "TracebackType"},
}
"""What Python 3.9 has of modules that grew since, and we take."""
NEWER_OF_SYS = {"exception", "orig_argv", "stdlib_module_names"}
NEWER_WORDS = {"zip": {"strict"}, "dataclass": {"slots", "kw_only", "match_args"}}


def newer(tree: ast.AST) -> list[str]:
    """What of a module Python 3.9 would not know."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for statement in node.body:
                for part in ast.walk(statement):
                    part.names = []  # type: ignore[attr-defined]  # never executed
        if isinstance(node, ast.ImportFrom) and node.module in KNOWN:
            found += [f"{node.module}.{one.name}" for one in node.names if one.name not in KNOWN[node.module]]
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "sys" and node.attr in NEWER_OF_SYS:
            found.append(f"sys.{node.attr}")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            words = {word.arg for word in node.keywords} & NEWER_WORDS.get(node.func.id, set())
            found += [f"{node.func.id}({word}=)" for word in words]
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_python_3_9_understands_it(path):
    """Two lines that it does not know closed the sandbox to every interpreter before 3.11."""
    assert newer(ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))) == []


def test_what_is_newer_is_found():
    source = "from typing import Self\nif TYPE_CHECKING:\n    from typing import override\nzip(a, b, strict=True)\n"
    assert newer(ast.parse(source)) == ["typing.Self", "zip(strict=)"]


class Installed:
    """The stand-in of a program, beside which an evaluator opens files."""

    def __enter__(self):
        StandIn(lambda module: None, ValueError).install()

    def __exit__(self, *exception):
        pass


@pytest.mark.parametrize("place", [hiding.refused(["/nowhere"]), Installed()], ids=["what is hidden", "an evaluator"])
def test_what_stands_for_open_is_no_method_of_a_class_that_keeps_it(place, monkeypatch):
    """So does `pathlib` before Python 3.11, when it is imported: from then on `Path.open` failed in each program."""
    for owner, name in (
        (builtins, "open"), (io, "open"), (os, "open"), (importlib.util, "spec_from_file_location"),
        (importlib.machinery.SourceFileLoader, "exec_module"), (sys, "meta_path"),
    ):  # fmt: skip
        kept = getattr(owner, name)
        monkeypatch.setattr(owner, name, [*kept] if isinstance(kept, list) else kept)
    with place:
        accessor = type("Accessor", (), {"open": io.open, "os_open": os.open})()
    with accessor.open(__file__) as file:
        assert file.readline()
    os.close(accessor.os_open(__file__, os.O_RDONLY))


def real_path(name: str) -> str:
    """Of an interpreter, and not of a script that looks for it; '' where it does not start."""
    found = shutil.which(name)
    command = [found or "false", "-c", "import sys; print(sys.executable)"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


@pytest.mark.parametrize("name", ["python3.9", "python3.10", "python3.12", "python3.13", "python3.14"])
def test_a_program_runs_in_an_interpreter_that_is_there(name, tmp_path):
    python = real_path(name)
    if not python:
        pytest.skip(f"{name} is not there")
    sandbox = open_sandbox("auto", python=python, state_dir=tmp_path / "state")
    (tmp_path / "work").mkdir()
    try:
        code = "import sys; print(sys.version_info[:2])"
        done = sandbox.run(code, workspace=tmp_path / "work", limits=Limits(seconds=20))
    finally:
        sandbox.close()
    assert tuple(map(int, name.removeprefix("python").split("."))) == ast.literal_eval(done.term_out.strip())


def test_a_script_that_looks_for_an_interpreter_is_named_as_one(tmp_path):
    """The last line of what such a script says helped nobody: `Python versions to be found at the same time.`"""
    shim = tmp_path / "python3.9"
    shim.write_text("#!/bin/sh\necho no version is chosen >&2\nexit 127\n")
    shim.chmod(0o755)
    with pytest.raises(NoSandboxError, match=r"no version is chosen; it is a script .*/python3\.9 -c 'import sys"):
        open_sandbox("auto", python=str(shim), state_dir=tmp_path / "state")
