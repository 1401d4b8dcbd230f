"""`search()`, `start()`, `resume()`, `load()`, `runs()`: searches in child processes, from a script or a notebook."""

from __future__ import annotations

import inspect
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from swarm_evo.answers import Plan, RunRow, answer_of
from swarm_evo.arguments import StoredRun, checked_path, located, shown
from swarm_evo.child import ask
from swarm_evo.errors import SearchError
from swarm_evo.kept import KeptFiles
from swarm_evo.result import Result, read_result, stored_text
from swarm_evo.run import Run, Step
from swarm_evo.words import check_kept, keys, preset_words, rights, search_words

_OUTPUT = "SELECT texts.body FROM nodes JOIN texts ON texts.hash = nodes.term_out WHERE nodes.id = ?"
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
