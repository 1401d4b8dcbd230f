"""Sweeps: the same search with several settings and seeds, and a table of what differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from swarm_evo.answers import Deleted, answer_of
from swarm_evo.arguments import checked_path, shown
from swarm_evo.child import ask
from swarm_evo.errors import SearchError
from swarm_evo.kept import KeptFiles
from swarm_evo.sweep_answers import Sweep, SweepLine
from swarm_evo.words import rights, search_words, word_of

WHAT = "seeds=range(1, 6), or vary={'search.policy': ['three_phase', 'mcts']}"


def sweep(
    problem: str | Path | Mapping[str, Any] | None = None,
    *,
    seeds: Iterable[int] | None = None,
    vary: Mapping[str, Iterable[Any]] | None = None,
    cases: Iterable[Mapping[str, Any]] = (),
    name: str | None = None,
    jobs: int = 1,
    program: str | Path | None = None,
    evaluate: Callable[[str], Any] | str | Path | None = None,
    direction: str | None = None,
    llm: str | Path | Mapping[str, Any] | None = None,
    config: str | Path | None = None,
    budget: Mapping[str, Any] | None = None,
    project_dir: str | Path = ".",
    accept_unsandboxed: bool = False,
    quiet: bool = True,
    **settings: Any,
) -> Sweep:
    """One run for each setting and seed, waited for. The same call goes on where it was stopped, also by Ctrl-C.

    Args:
        seeds: `range(1, 6)` if None.
        vary: key → its values, every combination of them; `llm` may be one. Others are compared with the first.
        cases: one more setting each, beside those of `vary`.
        name: of the sweep; made from what it runs if None. With the same name and other seeds it is added to.
        jobs: runs at once.
        problem, program, evaluate, direction, llm, config, budget, project_dir, settings: as for `start`.
        accept_unsandboxed: needed with `execution.sandbox=none`.
        quiet: False tells here which run begins and what has ended with which score.

    Raises:
        SearchError: nothing differs, a setting is wrong, or a run failed.
    """
    cases = list(cases)
    if seeds is None and not vary and not cases:
        raise SearchError(f"sweep: say what differs: {WHAT}")
    if "seed" in settings:
        raise SearchError(f"seed={shown(settings['seed'])}: a sweep has several: {WHAT}")
    words = [f"--seeds={_listed(seeds)}"] if seeds is not None else []
    words += [f"--vary={_varied(key, values)}" for key, values in (vary or {}).items()]
    words += [f"--case={','.join(_pair(key, value) for key, value in case.items())}" for case in cases]
    words += [f"--name={name}"] if name is not None else []
    words += rights(trust=False, accept_unsandboxed=accept_unsandboxed)
    kept = KeptFiles(checked_path("project_dir", project_dir))
    try:
        words += search_words(
            kept, problem=problem, program=program, evaluate=evaluate, direction=direction, llm=llm, config=config,
            budget=budget, seed=None, settings=settings,
        )  # fmt: skip
        return answer_of(Sweep, ask("sweep", f"--jobs={jobs}", *words, "--json", quiet=quiet))
    finally:
        kept.drop()


def load_sweep(name: str, *, project_dir: str | Path = ".") -> Sweep:
    """A sweep as it stands, whatever process makes it."""
    place = checked_path("project_dir", project_dir)
    return answer_of(Sweep, ask("sweep", "show", name, "--json", f"project.dir={place}"))


def sweeps(*, project_dir: str | Path = ".") -> list[SweepLine]:
    """Every sweep of the folder, the newest first."""
    place = checked_path("project_dir", project_dir)
    return [answer_of(SweepLine, line) for line in ask("sweep", "show", "--json", f"project.dir={place}")]


def delete_sweep(name: str, *, project_dir: str | Path = ".") -> Deleted:
    """Remove a sweep with all its runs, and what no other run needs. Nobody is asked.

    Raises:
        SearchError: there is none of that name, or a process works on one of its runs: then none is removed.
    """
    place = checked_path("project_dir", project_dir)
    return answer_of(Deleted, ask("sweep", "rm", name, "--yes", "--json", f"project.dir={place}"))


def _listed(seeds: Iterable[int]) -> str:
    try:
        found = [int(seed) for seed in seeds]
    except (TypeError, ValueError) as error:
        raise SearchError(f"seeds={shown(seeds)}: whole numbers, as in seeds=range(1, 6)") from error
    if not found:
        raise SearchError(f"seeds={shown(seeds)}: none; say at least one")
    return ",".join(map(str, found))


def _varied(key: str, values: Iterable[Any]) -> str:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise SearchError(f"vary: {key}={shown(values)}: its values in a list, as in {WHAT}")
    name, words = _key(key), [_word(key, value) for value in values]
    if not words:
        raise SearchError(f"vary: {key}=[]: it needs a value, better two")
    return f"{name}={','.join(words)}"


def _pair(key: str, value: Any) -> str:
    return f"{_key(key)}={_word(key, value)}"


def _key(key: str) -> str:
    return key.replace("__", ".")


def _word(key: str, value: Any) -> str:
    """A value among others, which commas part."""
    word = word_of(_key(key), value)
    if "," in word and word[:1] not in "[{":
        raise SearchError(f"{key}={shown(value)}: a text with a comma cannot vary; put it into a file (config=)")
    return word
