"""The forms of CO-Bench and HeuriGym: `solve` is given one instance after the other, which lie in files.

instances  CO-Bench's and FrontierCO's `config.py`: `solve`, `load_data`, `eval_func`, `DESCRIPTION`; where it has them
           `norm_score` and `get_dev`. The instances are the other files of its folder
files      HeuriGym's `program/evaluator.py` with `evaluate(input_file, …, solution_file)`, beside it `verifier.py`.
           The instances lie in `dataset/`, or where its agent puts them: `_datasets/NAME/` beside the problem's folder
"""

from __future__ import annotations

import ast
from pathlib import Path

from problems.evaluator_template import Template, bound_in, names_read, parsed, text_in
from utils.clean_text import clean

_WANTED = {"solve", "load_data", "eval_func"}
_WRITTEN = ("solution_file", "output_file")
_VALID = "valid_instances"
"""FrontierCO's folder of those instances that a search may see."""
_BLOCK = "# EVOLVE-BLOCK-START\n{}\n# EVOLVE-BLOCK-END\n"
_LATE = '''

class OutOfTime(BaseException):
    """The seconds of an instance are over; no `except Exception` catches it."""


def in_time(seconds, work):
    """What `work` returns, or OutOfTime in the midst of it."""
    import signal

    def stop(*_):
        raise OutOfTime

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
'''
_RETURNED = '''

def solve_instance(instance, seconds):
    """What the evaluator calls: `solve`, for so many seconds."""
    try:
        return in_time(seconds, lambda: solve(**instance))
    except OutOfTime:
        raise TimeoutError(f"Timeout ({seconds:g}s)") from None
'''
_YIELDED = '''

def solve_instance(instance, seconds):
    """What the evaluator calls: the last solution that `solve` yields within so many seconds."""
    found = []

    def follow():
        for solution in solve(**instance):
            found[:] = [solution]

    try:
        in_time(seconds, follow)
    except OutOfTime:
        if not found:
            raise TimeoutError(f"Timeout ({seconds:g}s) with no solution yielded") from None
    except Exception:
        if not found:
            raise
    return found[0] if found else {}
'''
_ON_FILES = '''

def solve_files(inputs, seconds):
    """What the evaluator calls: the bytes that `solve` writes for these input files (their bytes by name)."""
    import os
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in inputs]
        for path, data in zip(paths, inputs.values()):
            with open(path, "wb") as file:
                file.write(data)
        written = os.path.join(folder, "solution.output")
        try:
            in_time(seconds, lambda: solve(*paths, written))
        except OutOfTime:
            raise TimeoutError(f"Program execution timed out after {seconds:g} seconds") from None
        if not os.path.exists(written):
            return b""
        with open(written, "rb") as file:
            return file.read()
'''
_SOLVER = '''def solve(input_file: str, solution_file: str):
    """Reads the input file and writes the solution file, both in the formats of the problem statement."""
    raise NotImplementedError("nothing is written yet")
'''
_FILES_TOLD = (
    "Write the function `solve`: it reads the input file (several, where an instance has more than one) and writes the "
    "solution file, its last argument. "
)
_INDEX_TOLD = (
    "The score is the harmonic mean of the share of instances with a valid solution and of the quality of these (1: as "
    "good as the expert's)."
)
_COST_TOLD = "The score is the mean cost; each instance needs a valid solution."
_MEAN_TOLD = "The score is the mean over all instances; one without a valid solution counts 0."


def config_template(module: ast.Module, text: str, config: Path) -> Template | None:
    """Of CO-Bench's `config.py`; None for another file."""
    known = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
    solve = known.get("solve")
    if solve is None or not known.keys() >= _WANTED:
        return None
    yields = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(solve))
    wanted = names_read(solve)
    imports = [node for node in module.body if isinstance(node, ast.Import | ast.ImportFrom)]
    used = [ast.unparse(node) for node in imports if bound_in(ast.Module([node], [])) & wanted]
    source = (ast.get_source_segment(text, solve) or ast.unparse(solve)).rstrip()
    program = "\n\n\n".join(filter(None, ["\n".join(used), _BLOCK.format(source)]))
    folder = config.parent
    return Template(
        "instances",
        program + _LATE + (_YIELDED if yields else _RETURNED),
        {"function": "solve_instance"},
        about=f"{clean(text_in([module], 'DESCRIPTION')).strip()}\n\n{_MEAN_TOLD}".strip(),
        lower_is_better=False,
        arguments=("filter_key", "timeout"),
        has_others="get_dev" in known,
        others=() if "get_dev" in known else _others(folder),
        data=(folder,),
    )


def _others(folder: Path) -> tuple[str, ...]:
    """Of FrontierCO's folder, where that has instances for a search: the files of all others."""
    if not (folder / _VALID).is_dir():
        return ()
    others = (one for one in folder.iterdir() if one.name.endswith("_instances") and one.name != _VALID)
    return tuple(sorted(str(path.relative_to(folder)) for one in others for path in one.rglob("*") if path.is_file()))


def files_template(module: ast.Module, evaluator: Path) -> Template | None:
    """Of HeuriGym's `program/evaluator.py`; None for another file."""
    if not _takes_files(module, "evaluate"):
        return None
    verifier, _ = parsed(evaluator.with_name("verifier.py"))
    if verifier is None or not _takes_files(verifier, "verify"):
        return None
    problem = evaluator.parent.parent
    _, solver = parsed(evaluator.with_name("solver.py"))
    dataset = dataset_of(problem)
    has_baseline = (problem / "baseline" / "baseline.json").is_file()
    told = _INDEX_TOLD if has_baseline else _COST_TOLD
    return Template(
        "files",
        _BLOCK.format((solver or _SOLVER).strip()) + _LATE + _ON_FILES,
        {"function": "solve_files", "dataset": str(dataset)},
        about=f"{clean(_text(problem / 'README.md'))}\n\n{_FILES_TOLD}{told}".strip(),
        lower_is_better=not has_baseline,
        arguments=("timeout",),
        has_others=(dataset / "demo").is_dir() and (dataset / "eval").is_dir(),
        data=tuple(filter(Path.is_dir, (evaluator.parent, dataset, problem / "baseline"))),
    )


def dataset_of(problem: Path) -> Path:
    """Where the instances of HeuriGym's problem lie."""
    own, fetched = problem / "dataset", problem.parent / "_datasets" / problem.name
    return own if own.is_dir() or not fetched.is_dir() else fetched


def _takes_files(module: ast.Module, name: str) -> bool:
    """It has a function of that name that is given input files and, last, what was written for them."""
    functions = (node.args for node in module.body if isinstance(node, ast.FunctionDef) and node.name == name)
    needed = ([one.arg for one in args.args[: len(args.args) - len(args.defaults)]] for args in functions)
    return any(
        len(names) > 1 and all(one.endswith("_file") for one in names) and names[-1] in _WRITTEN for names in needed
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
