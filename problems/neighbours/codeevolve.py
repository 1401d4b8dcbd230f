"""CodeEvolve: `input/src/` with the program, `input/evaluate.py`, and below `configs/` what is wanted of a search.

`evaluate.py` is called with the program's path and the path of the JSON that it writes; what it raises is a failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from problems.neighbours.by_function import is_asked, keys_of
from problems.neighbours.reading import (
    FromOne,
    FromZero,
    Islands,
    Seconds,
    Told,
    Translation,
    Word,
    check_sections,
    leaves,
    said_here,
    yaml_of,
)
from utils.errors import ConfigError

NAME = "CodeEvolve's task folder"
NEEDS = "CodeEvolve's has input/evaluate.py, input/src/ and configs/*.yaml"
RESULTS = "results.json"


def _bytes_as_mb(value: int) -> int:
    return max(64, value >> 20)


TABLE: Mapping[str, Word] = {
    "SYS_MSG": Word("problem.options.statement", str, str.strip),
    "EVAL_TIMEOUT": Word("execution.timeout", Seconds),
    "MAX_MEM_BYTES": Word("execution.memory_mb", FromOne, _bytes_as_mb),
    "EVOLVE_CONFIG.num_epochs": Word("search.max_steps", FromZero),
    "EVOLVE_CONFIG.early_stopping_rounds": Word("budget.stagnation", FromOne),
    "EVOLVE_CONFIG.num_islands": Word("search.islands.num_islands", Islands),
    "EVOLVE_CONFIG.migration_interval": Word("search.islands.migration_interval", FromZero),
}
"""Their key → ours."""
FITNESS = "EVOLVE_CONFIG.fitness_key"
FILES = ("CODEBASE_PATH", "INIT_FILE_DATA.filename", "EVAL_FILE_NAME")
"""Where program and evaluator lie below `input/`."""
MODELS = ("ENSEMBLE", "SAMPLER_AUX_LM")
OUTPUT = ("INIT_FILE_DATA.language", "MEM_CHECK_INTERVAL_S", "EVOLVE_CONFIG.ckpt")
"""Say nothing about the search, or are known without."""


def recognises(folder: Path) -> bool:
    return (folder / "input").is_dir() and bool(_configs(folder)) and any((folder / "input").glob("eval*.py"))


def read(folder: Path, told: Told) -> Translation:
    """Raises ConfigError: a value that its key may not have, or no program where the configuration says."""
    config, *others = _configs(folder)
    plain = {key: value for key, value in leaves(yaml_of(config)) if value is not None}
    check_sections(config, plain, (*TABLE, FITNESS, *FILES))
    codebase, filename, evaluator = (
        said_here(config, key, plain.get(key, usual), Word("", str))
        for key, usual in zip(FILES, ("src/", "init_program.py", "evaluate.py"), strict=True)
    )
    program = Path(codebase, filename).as_posix()
    for name in (program, evaluator):
        if not (folder / "input" / name).is_file():
            raise ConfigError(f"{config}: names input/{name}, and no such file is in {folder}")
    metric = told.metric or said_here(config, FITNESS, plain.get(FITNESS), Word("", str))
    taken = {theirs: word.ours for theirs, word in TABLE.items() if theirs in plain}
    keys = {word.ours: said_here(config, key, plain[key], word) for key, word in TABLE.items() if key in plain}
    source = folder / "input"
    if is_asked(source / program, source / evaluator, told):
        keys = keys_of(source / program, source / evaluator, metric, keys)
    else:
        keys = {
            "problem.kind": "command",
            "problem.source": str(source),
            "problem.editable": program,
            "problem.eval": f"{told.python} {evaluator} {program} {RESULTS}",
            "problem.metric": metric,
            "problem.metric_from": f"json:{RESULTS}",
            "problem.direction": "max",
            "problem.options": {},
            **keys,
        }
    known = (*TABLE, FITNESS, *FILES, *OUTPUT)
    left = tuple(key for key in plain if key not in known and not key.startswith(MODELS))
    named = f"{config.name} is read" + (f", and not {', '.join(path.name for path in others)}" if others else "")
    return Translation(keys, taken, left, (named,) if others else ())


def _configs(folder: Path) -> list[Path]:
    """The plain one first: each of the others is one of CodeEvolve's ways to search."""
    found = sorted((folder / "configs").glob("*.y*ml"), key=lambda path: (len(path.stem), path.name))
    return [path for path in found if path.is_file()]
