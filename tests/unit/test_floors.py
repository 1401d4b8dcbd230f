"""Imports only ever point down the floors of the design and never in a circle, whatever is imported lazily."""

from __future__ import annotations

import ast
import functools
import importlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

FLOORS: dict[str, int] = {
    "main": 9, "cli": 9,
    "runs": 8,
    "dashboard": 7, "reports": 7,
    "problems": 6,
    "agents": 5,
    "core.loop": 4,
    "core.backend": 3, "core.storage": 3, "core.search": 3,
    "core.executor": 3, "core.workers": 3, "core.evaluation": 3, "core.arena": 3,
    "core.contracts": 2,
    "core.state": 1, "core.events": 1,
    "core": 9,
    "utils": 0,
    "swarm_evo": -1,
}  # fmt: skip
"""The longest prefix of a module's name decides. `core` itself is a front door: docs/decisions/0006-front-doors.md."""

MAY_SEE = {
    "core.workers": {"core.executor"},
    "core.evaluation": {"core.executor", "core.workers"},
    "core.arena": {"core.executor", "core.workers", "core.evaluation"},
    "core.events": {"core.state"},
}
"""Siblings that may be imported; events quote the words of the state."""


def is_module(name: str) -> bool:
    """True for a module or package of ours; False for what a module holds."""
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or path.is_dir()


def part_of(module: str) -> str | None:
    """The entry of FLOORS that a module belongs to; None for what is not ours."""
    names = [name for name in FLOORS if module == name or module.startswith(name + ".")]
    return max(names, key=len, default=None)


TOPS = ("main.py", "cli", "runs", "dashboard/server", "reports", "problems", "agents", "core", "utils", "swarm_evo")


def modules() -> Iterator[tuple[str, Path]]:
    for top in TOPS:
        path = ROOT / top
        for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
            relative = file.relative_to(ROOT).with_suffix("")
            yield ".".join(part for part in relative.parts if part != "__init__"), file


@functools.cache
def imports_of(file: Path, module: str) -> tuple[tuple[int, str], ...]:
    """(line, module) of every import, those inside functions and `import_module("…")` included; typing ones too."""
    return tuple(_imports(file, module))


def _imports(file: Path, module: str) -> Iterator[tuple[int, str]]:
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            names = [f"{base}.{alias.name}" for alias in node.names]
            yield from ((node.lineno, name) for name in names)
            if not all(map(is_module, names)):
                yield node.lineno, base
        elif (
            isinstance(node, ast.Call)
            and getattr(node.func, "attr", getattr(node.func, "id", "")) == "import_module"
            and node.args
            and isinstance(node.args[0], ast.Constant)
        ):
            yield node.lineno, str(node.args[0].value)


MODULES = list(modules())


def circles(graph: Mapping[str, set[str]]) -> set[frozenset[str]]:
    """Strongly connected components of more than one member (Tarjan, without recursion)."""
    found: set[frozenset[str]] = set()
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    path: list[str] = []
    for root in graph:
        work = [(root, iter(sorted(graph[root])))] if root not in index else []
        while work:
            node, rest = work[-1]
            if node not in index:
                index[node] = low[node] = len(index)
                path.append(node)
            step = next(rest, None)
            if step is not None and step not in index:
                work.append((step, iter(sorted(graph.get(step, ())))))
            elif step is not None:
                low[node] = min(low[node], low[step]) if step in path else low[node]
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    members = path[path.index(node) :]
                    del path[path.index(node) :]
                    found |= {frozenset(members)} if len(members) > 1 else set()
    return found


def test_no_module_imports_itself_by_a_detour():
    names = {module for module, _ in MODULES}
    graph = {
        module: {name for _, name in imports_of(file, module) if name in names and name != module}
        for module, file in MODULES
    }
    assert not circles(graph), "\n".join(" <-> ".join(sorted(circle)) for circle in circles(graph))


def test_no_file_of_the_page_imports_itself_by_a_detour():
    source = ROOT / "dashboard" / "web" / "src"
    files = {path for ending in ("*.ts", "*.tsx") for path in source.rglob(ending)}
    by_stem = {path.with_suffix(""): path for path in files}
    graph = {
        str(path.relative_to(source)): {
            str(by_stem[target].relative_to(source))
            for name in re.findall(r"""(?:from|import)\s*\(?\s*["'](\.[^"']+)["']""", path.read_text(encoding="utf-8"))
            if (target := (path.parent / name).resolve()) in by_stem
        }
        for path in files
    }
    assert sum(map(len, graph.values())) > 50, "the imports are found"
    assert not circles(graph)


def test_circles_are_found():
    chain = {str(n): {str(n + 1)} for n in range(5000)}
    assert circles(chain) == set()
    assert circles({**chain, "4999": {"17"}}) == {frozenset(map(str, range(17, 5000)))}
    assert circles({"a": {"b", "c"}, "b": {"a"}, "c": {"d"}, "d": {"c", "a"}, "e": {"a"}}) == {frozenset("abcd")}
    assert circles({"a": {"b"}, "b": {"a"}, "c": {"d", "a"}, "d": {"c"}}) == {frozenset("ab"), frozenset("cd")}


@pytest.mark.parametrize(
    ("line", "imported"),
    [
        ("from core.state import node", {"core.state.node"}),
        ("from core.state.node import Node", {"core.state.node", "core.state.node.Node"}),
        ("def late():\n    import core.events", {"core.events"}),
        ("if TYPE_CHECKING:\n    from . import journal", {"core.state.journal"}),
        ("import_module('core.events')", {"core.events"}),
    ],
)
def test_every_form_of_import_is_seen(tmp_path, line, imported):
    file = tmp_path / "new.py"
    file.write_text(line)
    assert {name for _, name in imports_of(file, "core.state.new")} == imported


def test_there_is_something_to_check():
    assert len(MODULES) > 100
    assert {part_of(name) for name, _ in MODULES} - {None} >= set(FLOORS) - {"core.arena"}


def forbidden(module: str, imported: str) -> bool:
    here, there = part_of(module), part_of(imported)
    if here is None or there is None or here == there:
        return False
    if FLOORS[here] == FLOORS[there] <= 3:
        return there not in MAY_SEE.get(here, set())
    if {here, there} == {"dashboard", "reports"}:
        return False
    return FLOORS[there] >= FLOORS[here] and not (FLOORS[here] == FLOORS[there] == 9)


def test_imports_only_point_down():
    wrong = [
        f"{file.relative_to(ROOT)}:{line} imports {imported}"
        for module, file in MODULES
        for line, imported in imports_of(file, module)
        if forbidden(module, imported)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        ("utils.metric", "core.state.node"), ("core.search.mcts", "core.backend.model_client"),
        ("core.loop.orchestrator", "agents.x"), ("core.state.node", "core.events"),
        ("core.workers.local", "core.evaluation.base"), ("reports.html", "cli.show"), ("agents.x", "problems.registry"),
        ("core.state.node", "core.contracts"), ("core.contracts", "core.storage.models"),
    ],
)  # fmt: skip
def test_the_check_itself_can_fail(module, imported):
    assert forbidden(module, imported)


GRADER = "problems.competition.grader"
GRADER_FOLDERS = ("tables", "scoring", "own_data", "leaks", "mlebench")
"""From the ground up; what stands beside them (`prepare`, `grade`, `split` …) puts them together."""


def test_the_folders_of_the_grader_stand_on_each_other():
    assert {path.name for path in ROOT.joinpath(*GRADER.split(".")).iterdir() if path.is_dir()} - {"__pycache__"} == {
        *GRADER_FOLDERS
    }
    wrong = []
    for module, file in MODULES:
        folder = module.removeprefix(f"{GRADER}.").split(".")[0]
        if module.startswith(f"{GRADER}.") and folder in GRADER_FOLDERS:
            below = {f"{GRADER}.{name}" for name in GRADER_FOLDERS[: GRADER_FOLDERS.index(folder) + 1]}
            wrong += [
                f"{file.relative_to(ROOT)}:{line} imports {imported}"
                for line, imported in imports_of(file, module)
                if imported.startswith(f"{GRADER}.") and ".".join(imported.split(".")[:4]) not in below
            ]
    assert not wrong, "\n".join(wrong)


def test_the_grader_sees_nothing_else_of_ours():
    """It runs in an interpreter of the user's, where nothing else of ours can be found."""
    wrong = [
        f"{file.relative_to(ROOT)}:{line} imports {imported}"
        for module, file in MODULES
        if module.startswith(f"{GRADER}.")
        for line, imported in imports_of(file, module)
        if part_of(imported) is not None and not f"{imported}.".startswith(f"{GRADER}.")
    ]
    assert not wrong, "\n".join(wrong)


def test_the_loop_sees_only_the_seams():
    """`core/loop/`: floors 2 and below, and no implementation of a seam."""
    modules = [(module, file) for module, file in MODULES if part_of(module) == "core.loop"]
    assert modules
    for module, file in modules:
        seen = {part_of(imported) for _, imported in imports_of(file, module)} - {None}
        assert seen <= {"core.contracts", "core.events", "core.state", "core.loop", "utils"}, module


def test_no_problem_imports_another():
    problems = {path.name for path in (ROOT / "problems").iterdir() if path.is_dir()}
    wrong = []
    for module, file in MODULES:
        own = module.split(".")
        if own[0] == "problems" and len(own) > 2:
            for line, imported in imports_of(file, module):
                other = imported.split(".")
                if other[0] == "problems" and len(other) > 1 and other[1] in problems and other[1] != own[1]:
                    wrong.append(f"{file.relative_to(ROOT)}:{line} imports {imported}")
    assert not wrong, "\n".join(wrong)


def test_the_installable_shell_imports_nothing_of_ours():
    files = [file for file in sorted((ROOT / "swarm_evo").rglob("*.py")) if "_app" not in file.parts]
    assert files
    for file in files:
        seen = {imported.split(".")[0] for _, imported in imports_of(file, f"swarm_evo.{file.stem}")}
        assert not seen & {"core", "utils", "agents", "cli", "runs", "problems", "reports", "dashboard"}, file


CONFIGURATION = (
    "utils.config.",
    *(f"utils.config_{part}" for part in ("schema", "data", "execution", "problem", "search")),
)


def test_configuration_stops_at_the_composition_root():
    """No module of floors 1 to 5 reads the configuration object; `core/backend` may read its own section."""
    wrong = []
    for module, file in MODULES:
        part = part_of(module)
        if part is not None and 1 <= FLOORS[part] <= 5 and part != "core.backend":
            wrong += [
                f"{file.relative_to(ROOT)}:{line}"
                for line, imported in imports_of(file, module)
                if imported.startswith(CONFIGURATION)
            ]
    assert not wrong, "\n".join(wrong)


@functools.cache
def doors() -> dict[str, dict[str, str]]:
    """Package → the names it offers to people, each with its module."""
    found = {}
    for module, file in MODULES:
        tree = ast.parse(file.read_text(encoding="utf-8")) if file.name == "__init__.py" else ast.Module([], [])
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "door":
                found[module] = ast.literal_eval(node.args[1])
    return found


@pytest.mark.parametrize(("package", "names"), doors().items())
def test_every_name_of_a_front_door_is_there(package, names):
    here = importlib.import_module(package)
    for name in names:
        assert getattr(here, name).__name__ == name
    assert dir(here) == sorted(names)
    with pytest.raises(ImportError, match="no_such_name"):
        exec(f"from {package} import no_such_name", {})


def test_a_front_door_leads_into_its_own_house():
    """`core` alone reaches up, to what puts a whole run together."""
    assert doors()["core"] == {"Orchestrator": "runs.library"}
    wrong = [
        f"{package}: {name} from {module}"
        for package, names in doors().items()
        for name, module in names.items()
        if package != "core" and not module.startswith(f"{package}.") and module != "core.contracts"
    ]
    assert not wrong, "\n".join(wrong)


def test_nothing_of_ours_goes_through_a_front_door():
    wrong = [
        f"{file.relative_to(ROOT)}:{line} imports from {imported}"
        for module, file in MODULES
        for line, imported in imports_of(file, module)
        if imported in doors()
    ]
    assert not wrong, "\n".join(wrong)


def test_no_two_test_files_have_the_same_name():
    """pytest knows a file by its name alone where folders are no packages."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert not [name for name, count in names.items() if count > 1]
