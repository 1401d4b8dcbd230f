"""Tasks of frameworks that have no counterpart here: why, and what to do instead, in one line each."""

from __future__ import annotations

import ast
from pathlib import Path

from problems.evaluator_template import parsed

_MODEL = {"Model", "get_inputs", "get_init_inputs"}
ELSE = (
    "anything else is scored by an evaluator.py with evaluate(program_path) (--problem.program=FILE "
    "--problem.evaluator=FILE), or by a command that prints a number (--problem command --problem.source=FOLDER "
    "--problem.editable=FILE --problem.eval=COMMAND --problem.metric=NAME)"
)


def why_unread(folder: Path) -> str:
    """What is said of a folder or file of such a form; '' for another."""
    if folder.is_file():
        return _kernel(folder)
    if (folder / "evaluators" / "evaluator_modular.py").is_file():
        return (
            "a task of ThetaEvolve, whose evaluator and programs import its own version of OpenEvolve (and that "
            "openai), and whose programs hold names that its search fills in from configs/: an evaluator.py that fills "
            "them in, sets OPENEVOLVE_CONFIG_PATH and PYTHONPATH=openevolve_adapted and calls its evaluate scores them"
        )
    if (folder / "task.toml").is_file() and (folder / "instruction.md").is_file():
        return _container("Harbor", "tests/test.sh")
    if (folder / "task.yaml").is_file() and (folder / "tests").is_dir():
        return _container("terminal-bench", "run-tests.sh")
    return ""


def _kernel(path: Path) -> str:
    module, _ = parsed(path)
    kinds = (ast.ClassDef, ast.FunctionDef)
    names = {node.name for node in module.body if isinstance(node, kinds)} if module is not None else set()
    if not names >= _MODEL:
        return ""
    return (
        "a problem of KernelBench, which measures the time of a ModelNew beside this Model on a GPU: an evaluator.py "
        "that calls its eval_kernel_against_ref scores the file of a ModelNew, with torch and kernelbench in "
        "--execution.python=FILE and --execution.gpus=1"
    )


def _container(framework: str, tests: str) -> str:
    return (
        f"a task of {framework}, whose container an agent works in: there is no program to be scored. What the task "
        f"asks for can be searched where its {tests} needs no container: --problem command --problem.source=FOLDER "
        "--problem.editable=FILE --problem.eval=COMMAND --problem.grade=COMMAND"
    )
