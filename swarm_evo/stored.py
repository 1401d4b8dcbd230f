"""What is done with stored runs: compare, verify, replay, take the best away, label, delete."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from swarm_evo.answers import Comparison, Deleted, Exported, Health, Labels, Replayed, Verification, answer_of
from swarm_evo.arguments import StoredRun, checked_path, located, located_together, shown
from swarm_evo.child import ask
from swarm_evo.errors import SearchError
from swarm_evo.kept import KeptFiles
from swarm_evo.words import keys, preset_words, rights

SAID_OR_NOT = (0, 1)
"""Exit codes of a verb that says whether something is so."""


def compare(
    *runs: StoredRun,
    problem: str | None = None,
    status: str | None = None,
    tag: str | None = None,
    archived: bool = False,
    project_dir: str | Path = ".",
) -> Comparison:
    """Runs side by side: what each came to, and the settings in which they differ.

    Args:
        runs: ids, folders, results; or none, and `problem`, `status`, `tag` choose them as `list-runs` does.
        archived: also those that were put away.

    Raises:
        SearchError: there are fewer than two.
    """
    names, place = located_together(runs, project_dir)
    chosen = [f"--{key}={value}" for key, value in _named(problem=problem, status=status, tag=tag).items()]
    chosen += ["--archived"] if archived else []
    return answer_of(Comparison, ask("compare", *names, *chosen, "--json", f"project.dir={place}"))


def verify(run: StoredRun = "latest", *, head: str | None = None, project_dir: str | Path = ".") -> Verification:
    """Is a run as it was written? Nothing is run and nothing is changed.

    Args:
        run: an id, a result, a run's folder, or a bundle's (`export_best(…, bundle=…)`).
        head: the journal's head as you know it from elsewhere (`result.facts["journal_head"]`).

    Raises:
        SearchError: there is nothing to verify, or it cannot be read now.
    """
    name, place = located(run, project_dir)
    words = [f"--head={head}"] if head is not None else []
    found = ask("verify", name, *words, "--json", f"project.dir={place}", answers=SAID_OR_NOT)
    return answer_of(Verification, found)


def replay(
    run: StoredRun = "latest",
    *,
    trust: bool = False,
    accept_unsandboxed: bool = False,
    quiet: bool = True,
    project_dir: str | Path = ".",
) -> Replayed:
    """Search again from the record, as `replay --verify`: no model is asked, programs run and are scored again.

    Args:
        trust: a run that began elsewhere may execute what it names.
        accept_unsandboxed: needed with `execution.sandbox=none`.
        quiet: False tells here how far it is.

    Raises:
        SearchError: it could not be done.
    """
    name, place = located(run, project_dir)
    words = [
        "replay",
        name,
        "--verify",
        "--json",
        *rights(trust=trust, accept_unsandboxed=accept_unsandboxed),
        f"project.dir={place}",
    ]
    return answer_of(Replayed, ask(*words, quiet=quiet, answers=SAID_OR_NOT))


def export_best(
    run: StoredRun = "latest",
    out: str | Path | None = None,
    *,
    refit: bool = False,
    seeds: int | None = None,
    notebook: bool = False,
    patch: str | Path | None = None,
    folder: str | Path | None = None,
    branch: str | None = None,
    bundle: str | Path | None = None,
    recording: str | Path | None = None,
    trust: bool = False,
    accept_unsandboxed: bool = False,
    quiet: bool = True,
    project_dir: str | Path = ".",
    **settings: Any,
) -> Exported:
    """Write the best program and its outputs. What is to be known of them is a warning.

    Args:
        out: where to; the run's own `best_solution/` if None.
        refit: train it once more on all labelled rows; `data={"test": frame}` (or a file) has it predict those rows.
        seeds: of a refit: average so many; None: three, fewer where a run takes long.
        notebook: also write `solution.ipynb`, which runs as it is on Kaggle.
        patch, folder, branch: of a tree of files: one patch, a new folder, a new branch of its repository.
        bundle: write it with its journal there, and no more: `verify` needs nothing else.
        recording: write the models' replies there, as a recording for `demo`.
        trust, accept_unsandboxed, quiet: as for `replay`.

    Raises:
        SearchError: there is no valid program, no place for it, or what the run was made of is gone.
    """
    name, place = located(run, project_dir)
    places = _named(out=out, patch=patch, folder=folder, bundle=bundle, recording=recording)
    words = [f"--{key}={checked_path(key, value)}" for key, value in places.items()]
    words += [f"--{key}={value}" for key, value in _named(seeds=seeds, branch=branch).items()]
    words += [f"--{key}" for key, is_wanted in (("refit", refit), ("notebook", notebook)) if is_wanted]
    kept = KeptFiles(place)
    try:
        words += keys({}, kept, {}, settings)
        found = ask(
            "export-best",
            name,
            *words,
            *rights(trust=trust, accept_unsandboxed=accept_unsandboxed),
            "--json",
            quiet=quiet,
        )
    finally:
        kept.drop()
    exported = answer_of(Exported, found)
    for remark in exported.remarks:
        warnings.warn(remark.removeprefix("warning: "), stacklevel=2)
    return exported


def report(
    run: StoredRun = "latest",
    out: str | Path | None = None,
    *,
    format: str = "html",
    project_dir: str | Path = ".",
) -> Path:
    """Write the run's report and return its file: one HTML file that opens offline, or `md` for a pull request.

    Args:
        out: where to; `report.html` (or `.md`) in the run's folder if None.
    """
    name, place = located(run, project_dir)
    words = [f"--out={checked_path('out', out)}"] if out is not None else []
    return Path(ask("report", name, *words, f"--format={format}", "--json", f"project.dir={place}")["file"])


def tag(
    run: StoredRun = "latest",
    *,
    add: Iterable[str] = (),
    remove: Iterable[str] = (),
    title: str | None = None,
    note: str | None = None,
    archived: bool | None = None,
    project_dir: str | Path = ".",
) -> Labels:
    """Words of your own on a run, to find it again; returns what stands there now. Without any: looks.

    Args:
        add, remove: tags. title, note: '' removes it. archived: True has lists leave the run out.
    """
    name, place = located(run, project_dir)
    for key, words in (("add", add), ("remove", remove)):
        if isinstance(words, str):
            raise SearchError(f"{key}={shown(words)}: several tags, as in {key}=[{words!r}]")
    words = [f"{sign}{word}" for sign, tags in (("+", add), ("-", remove)) for word in tags]
    words += [f"--{key}={value}" for key, value in _named(title=title, note=note).items()]
    words += [] if archived is None else ["--archive" if archived else "--restore"]
    return answer_of(Labels, ask("tag", name, *words, "--json", f"project.dir={place}"))


def delete(run: StoredRun, *more: StoredRun, project_dir: str | Path = ".") -> Deleted:
    """Remove runs with all their files, and what no other run needs. Nobody is asked.

    Raises:
        SearchError: there is no such run, or a process works on one: then none is removed.
    """
    names, place = located_together((run, *more), project_dir)
    return answer_of(Deleted, ask("rm", *names, "--yes", "--json", f"project.dir={place}"))


def doctor(
    *, llm: str | Path | None = None, problem: str | None = None, project_dir: str | Path = ".", **settings: Any
) -> Health:
    """Is this machine fit: packages, sandbox, folder; with `llm` its models too, by three tiny questions.

    Args:
        llm, problem, settings: as for `start`.
    """
    kept = KeptFiles(checked_path("project_dir", project_dir))
    words = [*preset_words("problem", problem), *preset_words("llm", llm), *keys({}, kept, {}, settings)]
    return answer_of(Health, ask("doctor", *words, "--json", answers=SAID_OR_NOT))


def _named(**given: Any) -> dict[str, Any]:
    return {key: value for key, value in given.items() if value is not None}
