"""One program from several: runs each member as it is, then combines their submissions.

A member becomes a function that can be read and copied; one that a function would change stands as text.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence

from core.state.node import Node
from utils.counts import counted
from utils.syntax import source_lines

_PROGRAM = '''"""An ensemble by Swarm-Evo: {programs}, run as is, {then}."""
# [SECTION: DATA]
import os
import shutil
import sys

import numpy as np
import pandas as pd

KEY = {key!r}
TARGETS = {targets!r}
SCALE = {scale!r}
WEIGHTS = {weights!r}


# [SECTION: MODEL]
{members}


MEMBERS = [{names}]


# [SECTION: TRAIN]
AT_ONCE = {at_once}


def start(number, member):
    """Run one member in a folder and a process of its own; the process."""
    folder = os.path.join("working", f"member_{{number}}")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, "submission"))
    os.makedirs(os.path.join(folder, "working"))
    os.symlink(os.path.abspath("input"), os.path.join(folder, "input"))
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.chdir(folder)
            member()
            code = 0
        finally:
            sys.stdout.flush()
            os._exit(code)
    return child


def submission_of(number, child):
    """Wait for a member; its submission's path."""
    _, status = os.waitpid(child, 0)
    written = os.path.join("working", f"member_{{number}}", "submission", "submission.csv")
    absolute = os.path.join("submission", "submission.csv")
    if not os.path.exists(written) and os.path.exists(absolute):
        shutil.move(absolute, written)
    if status != 0 or not os.path.exists(written):
        raise RuntimeError(f"member {{number}} ended without a submission")
    return written


running, tables = [], []
for number, member in enumerate(MEMBERS):
    running.append(start(number, member))
    if len(running) - len(tables) >= AT_ONCE:
        tables.append(pd.read_csv(submission_of(len(tables), running[len(tables)])).set_index(KEY))
while len(tables) < len(running):
    tables.append(pd.read_csv(submission_of(len(tables), running[len(tables)])).set_index(KEY))


# [SECTION: PREDICT]
def combine(columns):
    columns = [column for column, weight in zip(columns, WEIGHTS) for _ in range(weight)]
    if SCALE == "vote":
        codes, names = pd.factorize(pd.concat(columns), sort=True)
        codes = codes.reshape(len(columns), -1)
        votes = np.stack([(codes == one).sum(axis=0) for one in codes])
        most = np.where(votes == votes.max(axis=0), codes, len(names)).min(axis=0)
        return pd.Series(np.asarray(names)[most], columns[0].index).astype(columns[0].dtype)
    if SCALE == "log":
        return np.expm1(sum(np.log1p(column) for column in columns) / len(columns))
    if SCALE == "rank":
        columns = [column.rank(pct=True) for column in columns]
    return sum(columns) / len(columns)


result = pd.DataFrame(index=tables[0].index)
for target in TARGETS:
    result[target] = combine([table[target].reindex(result.index) for table in tables])
{raised}os.makedirs("submission", exist_ok=True)
result.reset_index().to_csv(os.path.join("submission", "submission.csv"), index=False)
{printed}
'''


_PRINTED = 'print(f"combined {len(MEMBERS)} programs by {SCALE}, weights {WEIGHTS}")'
_RAISED = """POWER = {power!r}  # above 1: surer; a mean of probabilities is less sure than each
others = 1 - result
result, others = (one.clip(1e-15, 1) ** POWER for one in (result, others))
result = result.div(result.sum(axis=1) if len(TARGETS) > 1 else (result + others)[TARGETS[0]], axis=0)
"""


def program(
    members: Sequence[Node], picks: Sequence[int], *, scale: str, key: str, targets: Sequence[str], power: float = 1.0
) -> str:
    """The source of the ensemble.

    Args:
        members: candidates that may take part.
        picks: positions in `members`, once for each time that one was picked.
        power: that combined probabilities are raised to.
    """
    counts = Counter(picks)
    chosen = sorted(counts)
    names = [f"member_{number}" for number in range(len(chosen))]
    return _PROGRAM.format(
        programs=counted(len(chosen), "program"),
        then=f"their predictions combined by {scale}" if len(chosen) > 1 else "its probabilities raised to a power",
        scale=scale,
        printed=_PRINTED if len(chosen) > 1 else "",
        raised=_RAISED.format(power=power) if power != 1.0 else "",
        key=key,
        targets=list(targets),
        weights=[counts[i] for i in chosen],
        members="\n\n\n".join(_as_function(name, members[i].code) for name, i in zip(names, chosen, strict=True)),
        names=", ".join(names),
        at_once="1" if any(_KNOWS_ITS_PLACE.search(members[i].code) for i in chosen) else _ALL_AT_ONCE,
    )


_ALL_AT_ONCE = 'len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1'
_KNOWS_ITS_PLACE = re.compile(r"/workspace|abspath|getcwd|resolve\(|absolute\(")
"""Words of programs that may write their submission by its full path: there is one of it, so they run one by one."""
_UNLIKE_A_MODULE = re.compile(
    r"\b(n_jobs|multiprocessing|concurrent|joblib|pickle|globals|locals|vars|exec|eval|__file__)\b"
)
"""Words of programs whose names must be a module's: what they start or store looks them up there."""


def _as_function(name: str, code: str) -> str:
    """`def name():` with the member's lines, or with its text where a function would be another program."""
    if not _UNLIKE_A_MODULE.search(code):
        function = _indented(name, code)
        if _is_same_program(function, code):
            return function
    return f'def {name}():\n    exec(compile({code!r}, "{name}.py", "exec"), {{"__name__": "__main__"}})'


def _indented(name: str, code: str) -> str:
    lines = [re.sub(r"# \[SECTION: (\w+)\]", r"# \1", line) for line in source_lines(code.strip("\r\n"))]
    kept = [f"    {line}" if line.strip() else "" for line in lines if not line.startswith("# recipe: ")]
    return "\n".join([f"def {name}():", *kept])


def _is_same_program(function: str, code: str) -> bool:
    """Whether the function does what the program did: not where it binds names of the module, and not where a text over
    several lines would get the function's blanks."""
    try:
        made, own = ast.parse(function).body[0], ast.parse(code)
        assert isinstance(made, ast.FunctionDef)
        return ast.dump(ast.Module(made.body, [])) == ast.dump(own) and not any(map(_binds_to_module, ast.walk(own)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _binds_to_module(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.module == "__future__" or any(name.name == "*" for name in node.names)
    return isinstance(node, ast.Global | ast.Nonlocal | ast.ClassDef)
