"""`search()`, `start()`, `resume()`, `load()`, `runs()`: searches in child processes, from a script or a notebook."""

from __future__ import annotations

import difflib
import inspect
import json
import os
import re
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from swarm_evo.answers import Plan, RunRow, answer_of
from swarm_evo.arguments import StoredRun, checked_path, located, shown
from swarm_evo.child import ask
from swarm_evo.errors import SearchError
from swarm_evo.kept import KeptFiles
from swarm_evo.result import Result, read_result, stored_text
from swarm_evo.run import Run, Step
from swarm_evo.source import pickled

_OUTPUT = "SELECT texts.body FROM nodes JOIN texts ON texts.hash = nodes.term_out WHERE nodes.id = ?"
BUDGET = ("steps", "seconds", "tokens", "usd", "target", "stagnation", "repeats", "nothing_left")
"""What `budget=` may name: the keys below `budget`, and `steps` for `search.max_steps`."""


Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


def start(
    problem: str | Path | Mapping[str, Any] | None = None,
    *,
    run: StoredRun | None = None,
    program: str | Path | None = None,
    evaluate: Callable[[str], Any] | str | Path | None = None,
    direction: str | None = None,
    llm: str | Path | Mapping[str, Any] | None = None,
    config: str | Path | None = None,
    budget: Mapping[str, Any] | None = None,
    project_dir: str | Path = ".",
    seed: int | None = None,
    on_step: Callable[[Step], Any] | None = None,
    quiet: bool = True,
    show: bool | None = None,
    trust: bool = False,
    accept_unsandboxed: bool = False,
    **settings: Any,
) -> Run:
    """Begin a search, or go on with one, and come back at once.

    Args:
        problem: preset, as `--problem`: `competition`, `bin_packing`, … Not needed with `program`. Or the section's
            settings: `{"kind": "my_problem"}`.
        run: a stored run (its id, `latest`, its folder, a result) to go on with as `resume` does; what it searches is
            its own.
        program: a program of yours with an EVOLVE-BLOCK; needs `evaluate`.
        evaluate: your evaluator: a function of the program's path, or a file with `evaluate(program_path)`. A function
            travels by cloudpickle into a process of its own; what it prints appears here.
        direction: `max` (default) or `min`, for `program`.
        llm: preset, as `--llm`, or the section's settings: `{"code": {"model": "…"}}`; `rules` (no key) if None.
        config: a YAML file of settings, as `--config`; what is given here goes before it.
        budget: the keys below `budget` (`seconds`, `tokens`, `usd`, `target`, `stagnation`, …), and `steps` for
            `search.max_steps`.
        on_step: called with each `Step` while somebody waits for the run.
        quiet: False repeats the search's own messages here.
        show: progress in the notebook's cell; None: where there is one.
        trust: of `run`: one that began elsewhere may execute what it names.
        accept_unsandboxed: needed with `execution__sandbox="none"`: programs then run with your rights.
        settings: any other key, dots as double underscores: `search__workers=2`, or a section: `search={"workers": 2}`.
            Tables may be data frames: `data={"train": frame, "target": "price", "metric": "rmse"}`.

    Raises:
        SearchError: what was given cannot be sent to another process.
    """
    if on_step is not None and not callable(on_step):
        raise SearchError(f"on_step={shown(on_step)}: a function that is given each Step")
    kept = KeptFiles(checked_path("project_dir", project_dir))
    name = ""
    if run is not None:
        fixed = {"problem": problem, "program": program, "evaluate": evaluate, "direction": direction, "seed": seed}
        check_kept("start", fixed | {"llm": llm, "config": config})
        name, place = located(run, project_dir)
        kept = KeptFiles(place)
    with kept.dropped_on_error():
        words = (
            ["resume", name, *keys(budget or {}, kept, {}, settings)]
            if run is not None
            else ["run", *search_words(
                kept, problem=problem, program=program, evaluate=evaluate, direction=direction, llm=llm,
                config=config, budget=budget, seed=seed, settings=settings,
            )]
        )  # fmt: skip
        words += rights(trust=trust and run is not None, accept_unsandboxed=accept_unsandboxed)
        printed = print_output if callable(evaluate) else None
        return Run(words, on_step=on_step, quiet=quiet, show=show, printed=printed, kept=kept)


def plan(
    problem: str | Path | Mapping[str, Any] | None = None,
    *,
    program: str | Path | None = None,
    evaluate: Callable[[str], Any] | str | Path | None = None,
    direction: str | None = None,
    llm: str | Path | Mapping[str, Any] | None = None,
    config: str | Path | None = None,
    budget: Mapping[str, Any] | None = None,
    project_dir: str | Path = ".",
    seed: int | None = None,
    **settings: Any,
) -> Plan:
    """What `search` with these arguments would be: what is scored, what the budget buys, what it may cost.

    The data are made ready, and nothing is started.

    Raises:
        SearchError: that search would be refused.
    """
    kept = KeptFiles(checked_path("project_dir", project_dir))
    try:
        words = search_words(
            kept, problem=problem, program=program, evaluate=evaluate, direction=direction, llm=llm, config=config,
            budget=budget, seed=seed, settings=settings,
        )  # fmt: skip
        return answer_of(Plan, ask("run", "--plan", *words))
    finally:
        kept.drop()


def search_words(
    kept: KeptFiles,
    *,
    problem: str | Path | Mapping[str, Any] | None,
    program: str | Path | None,
    evaluate: Callable[[str], Any] | str | Path | None,
    direction: str | None,
    llm: str | Path | Mapping[str, Any] | None,
    config: str | Path | None,
    budget: Mapping[str, Any] | None,
    seed: int | None,
    settings: Mapping[str, Any],
) -> list[str]:
    """Words for a search of these arguments."""
    return [
        *problem_words(problem, program, evaluate, kept),
        *preset_words("llm", llm),
        *config_words(config),
        *keys(budget or {}, kept, {"problem.direction": direction, "project.seed": seed}, settings),
    ]


def _taking(begin: Callable[Arguments, Any]) -> Callable[[Callable[..., Returned]], Callable[Arguments, Returned]]:
    """A function that takes what `begin` takes, and says so to checkers of types, `help` and completion."""

    def taking(function: Callable[..., Returned]) -> Callable[Arguments, Returned]:
        returned = inspect.signature(function).return_annotation
        named = inspect.signature(begin).replace(return_annotation=returned)
        function.__signature__ = named  # type: ignore[attr-defined]
        return function

    return taking


@_taking(start)
def search(*problem: Any, **arguments: Any) -> Result:
    """Search, wait for the end, and return the result. Arguments as for `start`, whose help tells each.

    An interrupt ends the search in good order and returns what there is.

    Raises:
        SearchError: with the one line that the command line would print.
    """
    return start(*problem, **arguments).wait()


def resume(
    run: StoredRun = "latest",
    *,
    budget: Mapping[str, Any] | None = None,
    project_dir: str | Path = ".",
    on_step: Callable[[Step], Any] | None = None,
    quiet: bool = True,
    show: bool | None = None,
    trust: bool = False,
    accept_unsandboxed: bool = False,
    **settings: Any,
) -> Result:
    """Go on with an interrupted run, or give a finished one more: `resume(run, budget={"steps": 200})`.

    `start(run=…)` comes back at once.
    """
    return start(
        run=run, budget=budget, project_dir=project_dir, on_step=on_step, quiet=quiet, show=show, trust=trust,
        accept_unsandboxed=accept_unsandboxed, **settings,
    ).wait()  # fmt: skip


def fork(
    run: StoredRun,
    node: str | int,
    *,
    code: str | None = None,
    llm: str | Path | Mapping[str, Any] | None = None,
    budget: Mapping[str, Any] | None = None,
    project_dir: str | Path = ".",
    on_step: Callable[[Step], Any] | None = None,
    quiet: bool = True,
    show: bool | None = None,
    trust: bool = False,
    accept_unsandboxed: bool = False,
    **settings: Any,
) -> Result:
    """A new run that begins with one node of another, waited for.

    Args:
        node: its step, its id, or the id's first digits.
        code: a program that takes the node's place.
        llm, budget, on_step, quiet, show, trust, accept_unsandboxed, settings: as for `start`.
    """
    name, place = located(run, project_dir)
    kept = KeptFiles(place)
    with kept.dropped_on_error():
        words = ["fork", name, f"--node={node}", *preset_words("llm", llm), *keys(budget or {}, kept, {}, settings)]
        words += [f"--edit={kept.keep(code.encode(), 'edited')}"] if code is not None else []
        words += rights(trust=trust, accept_unsandboxed=accept_unsandboxed)
        return Run(words, on_step=on_step, quiet=quiet, show=show, kept=kept).wait()


def check_kept(call: str, fixed: Mapping[str, Any]) -> None:
    """SearchError: beside `run` stands what a run keeps."""
    given = next((name for name, value in fixed.items() if value is not None), None)
    if given is not None:
        raise SearchError(f"{call}(run=…, {given}=…): a run keeps what it searches; leave out {given}, or run")


def load(run: StoredRun = "latest", *, project_dir: str | Path = ".") -> Result:
    """The result of a stored run, whatever process made it; of one that goes on, what there is so far."""
    name, folder = located(run, project_dir)
    facts = ask("show", name, "--json", f"project.dir={folder}")
    return read_result(folder / "logs" / facts["run"], facts)


def runs(*, project_dir: str | Path = ".") -> list[RunRow]:
    """Every run of the folder, oldest first, as `list-runs --json` tells them."""
    place = f"project.dir={checked_path('project_dir', project_dir)}"
    found: list[RunRow] = ask("list-runs", "--json", place)
    return found


def problem_words(
    problem: str | Path | Mapping[str, Any] | None,
    program: str | Path | None,
    evaluate: Callable[[str], Any] | str | Path | None,
    kept: KeptFiles,
) -> list[str]:
    """Words for what is searched: a preset, or a program of the user's with its evaluator."""
    if program is None:
        if evaluate is not None:
            raise SearchError("evaluate= scores a program of yours: it needs program=, the file with it")
        return preset_words("problem", problem)
    if problem is not None and not isinstance(problem, Mapping):
        raise SearchError(f"problem={shown(problem)} and program=: one of them says what is searched")
    if evaluate is None:
        raise SearchError("search(program=…) needs evaluate=: a function of the program's path, or a file")
    file = checked_path("program", program)
    evaluator = _evaluator(evaluate, kept)
    words = ["--problem=script", f"problem.program={file}", f"problem.evaluator={evaluator}"]
    return words + preset_words("problem", problem)


def preset_words(section: str, given: str | Path | Mapping[str, Any] | None) -> list[str]:
    """Words for a section of the configuration: its preset, or settings of it."""
    if given is None:
        return []
    if isinstance(given, Mapping):
        return [f"{section}.{key}={word_of(f'{section}.{key}', value)}" for key, value in given.items()]
    if not isinstance(given, str | Path):
        raise SearchError(f"{section}={shown(given)}: the name of a preset, or a mapping with settings of {section}")
    return [f"--{section}={given}"]


def rights(*, trust: bool, accept_unsandboxed: bool) -> list[str]:
    """Words for what the user answers for."""
    given = {"--i-trust-this-run": trust, "--i-accept-unsandboxed": accept_unsandboxed}
    return [word for word, is_given in given.items() if is_given]


def config_words(config: str | Path | None) -> list[str]:
    """Words for a file of settings."""
    return [] if config is None else [f"--config={checked_path('config', config)}"]


TABLES = ("data.train", "data.test", "data.labels")
"""Settings that may be data frames."""
LISTS = ("initial", "plugins")
"""Settings that belong to no section."""
LIKE = "search__policy='islands'"
_ONE_WORD = re.compile(r"[\w./,:@~+${}-]*")


def keys(budget: Mapping[str, Any], kept: KeptFiles, more: Mapping[str, Any], settings: Mapping[str, Any]) -> list[str]:
    """Configuration keys as words; what is None in `more` is left out."""
    if not isinstance(budget, Mapping):
        raise SearchError(f"budget={shown(budget)}: a mapping such as {{'steps': 30}}; allowed: {', '.join(BUDGET)}")
    unknown = next((name for name in budget if name not in BUDGET), None)
    if unknown is not None:
        near = difflib.get_close_matches(unknown, BUDGET, 1)
        meant = f" (did you mean '{near[0]}'?)" if near else ""
        raise SearchError(f"budget has no '{unknown}'{meant}; allowed: {', '.join(BUDGET)}")
    named: dict[str, Any] = {"project.dir": kept.project_dir}
    named |= {"search.max_steps" if name == "steps" else f"budget.{name}": value for name, value in budget.items()}
    named |= {name: value for name, value in more.items() if value is not None}
    for name, value in settings.items():
        if not isinstance(value, Mapping) and "__" not in name and name not in LISTS:
            raise SearchError(
                f"there is no argument {name}={shown(value)}; a setting is section__key=value, such as {LIKE}"
            )
        section = value if isinstance(value, Mapping) else {"": value}
        named.update({f"{name.replace('__', '.')}.{key}".rstrip("."): given for key, given in section.items()})
    return [f"{name}={word_of(name, _kept_table(name, value, kept))}" for name, value in named.items()]


def _kept_table(key: str, value: Any, kept: KeptFiles) -> Any:
    """The file that keeps a data frame of pandas or polars; any other value as it is. An index with a name is a column.

    Raises:
        SearchError: a data frame where a table is not what is asked for, or one that cannot be kept.
    """
    name = key.replace(".", "__")
    if not (hasattr(value, "columns") and (hasattr(value, "to_csv") or hasattr(value, "write_csv"))):
        if key in TABLES and not isinstance(value, str | Path | None):
            raise SearchError(f"{name}={shown(value)}: a table is a data frame with named columns, or a file's path")
        return value
    if key not in TABLES:
        raise SearchError(f"{name}: a data frame is given as {' or '.join(TABLES).replace('.', '__')}")
    if getattr(value.columns, "nlevels", 1) > 1:
        raise SearchError(f"{name}: the data frame's columns have names of several levels; give each a single one")
    has_index = any(name is not None for name in getattr(getattr(value, "index", None), "names", ()))
    write = partial(value.to_csv, index=has_index) if hasattr(value, "to_csv") else value.write_csv
    return kept.keep_written(f"{key.partition('.')[2]}.csv", write)


def word_of(key: str, value: Any) -> str:
    """A value as the command line reads it, in YAML: a text of several words stays one, whatever marks it holds.

    Raises:
        SearchError: it is nothing that YAML has; its text would mean something else there.
    """
    value = str(value) if isinstance(value, os.PathLike) else value
    if isinstance(value, str) and _ONE_WORD.fullmatch(value):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain)
    except (TypeError, ValueError) as error:
        name = key.replace(".", "__")
        raise SearchError(f"{name}={shown(value)}: a text, a number, a list or a mapping is needed") from error


def _plain(value: Any) -> Any:
    """What JSON has in place of an array, a number of one, or a path. TypeError: nothing."""
    return value.tolist() if hasattr(value, "tolist") else os.fspath(value)


def print_output(folder: Path, node_id: str) -> None:
    """Print what evaluator and program printed for one candidate; nothing of a run that was refused and is gone."""
    text = ""
    with (
        suppress(sqlite3.OperationalError),
        closing(sqlite3.connect(f"{(folder / 'run.db').resolve().as_uri()}?mode=ro", uri=True)) as store,
    ):
        found = store.execute(_OUTPUT, (node_id,)).fetchone()
        text = stored_text(store, found[0]) if found else ""
    if text:
        print(text, end="" if text.endswith("\n") else "\n")


def _evaluator(evaluate: Callable[[str], Any] | str | Path, kept: KeptFiles) -> Path:
    """The evaluator as a file: a path as it is, a function pickled by value."""
    if isinstance(evaluate, str | Path):
        return checked_path("evaluate", evaluate)
    if not callable(evaluate):
        raise SearchError(f"evaluate={shown(evaluate)}: a function of the program's path, or a file with one")
    return kept.keep(pickled(evaluate), "evaluate.pkl")
