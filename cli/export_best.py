"""`export-best`: the best program as a standalone solution."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path

from cli.options import (
    add_run_argument,
    add_trust_option,
    add_unsandboxed_option,
    check_file_place,
    check_folder_place,
    count,
    make_folder_of,
    project_dir_of,
    remark,
    writes,
)
from core.contracts import Problem
from core.state.node import Node
from core.storage.reader import RunReader
from reports.conclusion import conclusion_of
from reports.note_parts import note_parts
from reports.winner import winner_node
from runs.composition import problem_of
from runs.ending.export_place import check_free, lay_out, lay_out_own
from runs.ending.outcome import write_solution
from runs.recorded.files import BEST
from runs.run_folder import check_own, find_run
from runs.stored.config import stored_config
from runs.stored.solution import StoredSolution, mark_refit, stored_solution
from utils.config_schema import Config
from utils.errors import ConfigError, SwarmEvoError
from utils.missing_file import no_file
from utils.scratch_folders import scratch_folder
from utils.user_path import user_path

SEEDS = 3
"""Of a refit: what competitors hand in is seldom one draw."""
REFIT_SHARE = 0.25
"""Of the search's seconds: a refit takes no longer, unless a single run does."""
FORMS = ("patch", "folder", "branch")
ROWS = "data.test="
_BESIDE = ("out", "refit", "notebook", *FORMS, "recording")
"""What a bundle is written without."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("export-best", help="write the best program and its outputs")
    add_run_argument(parser)
    parser.add_argument("--out", metavar="DIR", help="where to; logs/RUN/best_solution if absent")
    parser.add_argument(
        "--refit",
        action="store_true",
        help="train the winner once more on all labelled rows; with --data.test=FILE it predicts that table",
    )
    parser.add_argument(
        "--seeds",
        metavar="N",
        type=count,
        help=f"with --refit: average so many seeds; {SEEDS} if absent, fewer where a run takes long",
    )
    parser.add_argument(
        "--bundle", metavar="DIR", help="write it with its journal, for others to verify without a store"
    )
    parser.add_argument("--patch", metavar="FILE", help="a tree's changes as one patch")
    parser.add_argument("--folder", metavar="DIR", help="a tree as a new folder, whole: exactly what was scored")
    parser.add_argument("--branch", metavar="NAME", help="a tree as a new branch of its repository, with one commit")
    parser.add_argument(
        "--notebook",
        action="store_true",
        help="also write solution.ipynb, which runs as it is on Kaggle",
    )
    parser.add_argument("--recording", metavar="DIR", help="write the models' replies as a recording for `demo`")
    add_trust_option(parser)
    add_unsandboxed_option(parser)


def run(args: argparse.Namespace) -> int:
    if args.seeds and not args.refit:
        raise ConfigError("--seeds: only with --refit")
    if args.bundle and (other := next((name for name in _BESIDE if getattr(args, name)), None)):
        raise ConfigError(
            f"--bundle holds what the run stored and no more: leave out --{other}, or call it without --bundle"
        )
    if args.notebook and (form := next((name for name in FORMS if getattr(args, name)), None)):
        raise ConfigError(f"--notebook is of a competition, --{form} of a folder (problem.source): give one of them")
    rows = _rows_to_predict(args)
    project_dir = project_dir_of(args)
    run_dir = find_run(project_dir, args.run)
    _check_places(args)
    if args.bundle:
        return _bundle(run_dir, Path(args.bundle))
    with RunReader(run_dir) as reader:
        if args.recording:
            _record(reader, Path(args.recording))
        node = _winner(reader)
        _warn(reader)
        stored = stored_solution(reader, node) if node else None
    if node is None or stored is None:
        if args.recording:  # a run without a valid program is worth replaying too
            return 0
        raise ConfigError(f"run {run_dir.name} has no valid program to export")
    if _is_plain_copy(args) and stored.files and not stored.refit:
        return _copied(stored, Path(args.out))
    config = stored_config(
        run_dir, args.overrides, project_dir, remark, trusted=args.i_trust_this_run, asks_models=False
    )
    try:
        problem = _ready(config, run_dir)
    except (SwarmEvoError, OSError) as error:
        if (need := _needs(args)) is not None:
            raise ConfigError(f"export-best --{need} needs what the run was made of: {error}") from error
        if not stored.files:
            raise
        refit = ", of a refit" if stored.refit else ""
        remark(f"this is what the run stored{refit}; it cannot be made anew: {error}")
        return _copied(stored, Path(args.out) if args.out else stored.folder)
    return _written(args, config, problem, _predicting(problem, rows) if rows else problem, node, run_dir)


def _predicting(problem: Problem, rows: Path) -> Problem:
    """The problem with these rows to predict; what it says of them, and not of its own tables, is told."""
    predicting = problem.to_predict(rows)
    for part in note_parts(predicting.note):
        if part not in note_parts(problem.note):
            remark(part)
    return predicting


def _rows_to_predict(args: argparse.Namespace) -> Path | None:
    """The table that a refit is to predict in place of the run's. Taken out of the words: the run keeps its own."""
    named = [word for word in args.overrides if word.lstrip("-").startswith(ROWS)]
    if not (args.refit and named):
        return None
    args.overrides = [word for word in args.overrides if word not in named]
    path = user_path(named[-1].partition("=")[2]).resolve()
    if not path.is_file():
        raise ConfigError(f"{ROWS}{path}: {no_file(path)}")
    return path


def _is_plain_copy(args: argparse.Namespace) -> bool:
    """The solution at another place, and no more: nothing of the run's code is needed, and none of its data."""
    changes = [word for word in args.overrides if not word.lstrip("-").startswith("project.dir=")]
    return bool(args.out) and not changes and _needs(args) is None


def _needs(args: argparse.Namespace) -> str | None:
    """The first option that cannot do with what the run stored."""
    return next((name for name in ("refit", "notebook", *FORMS) if getattr(args, name)), None)


def _copied(stored: StoredSolution, out: Path) -> int:
    if out.resolve() != stored.folder.resolve():
        with writes("out", out):
            files: Sequence[Path] = lay_out(stored.files, stored.folder, out)
    else:
        files = stored.files
    for path in files:
        print(path)
    return 0


def _ready(config: Config, run_dir: Path) -> Problem:
    """The problem with its data, which are made ready anew where they are not."""
    problem = problem_of(config)
    problem.restore(run_dir)
    problem.prepare()
    return problem


def _written(
    args: argparse.Namespace, config: Config, problem: Problem, predicted: Problem, node: Node, run_dir: Path
) -> int:
    """What is refused is refused before the first file is written. `predicted` is the problem of a refit's rows."""
    if args.refit:
        predicted.check_refit()
    message = _message(run_dir.name, problem, node)
    forms = {form: target for form in FORMS if (target := getattr(args, form))}
    if args.patch:
        make_folder_of("patch", Path(args.patch))
    for form, target in forms.items():
        with writes(form, Path(target)):
            print(problem.export_as(form, node, target, message))
    if forms and not args.out:
        return 0
    if not args.out:
        check_own(run_dir)
    for path in dict.fromkeys(_solution(args, config, problem, predicted, node, run_dir, message)):
        print(path)
    return 0


def _solution(
    args: argparse.Namespace,
    config: Config,
    problem: Problem,
    predicted: Problem,
    node: Node,
    run_dir: Path,
    message: str,
) -> list[Path]:
    """The solution's files: made elsewhere, and laid in their place once all of them are known."""
    out = Path(args.out) if args.out else run_dir / BEST
    with scratch_folder("swarm-evo-export-") as folder:
        page = folder / "solution.ipynb"
        if args.notebook:
            problem.export_as("notebook", node, str(page), message)
        place = folder / "solution"
        with writes("out", out):
            written = write_solution(problem, node, place, run_dir)
            if args.notebook:
                written.append(Path(shutil.copyfile(page, place / page.name)))
        if args.refit:
            if args.out:  # before a winner is trained again
                check_free(written, place, out)
            written += _refit(args, config, predicted, node, place)
            mark_refit(place)
        with writes("out", out):
            return lay_out(written, place, out) if args.out else lay_out_own(written, place, run_dir, node.id)


def _check_places(args: argparse.Namespace) -> None:
    """ConfigError for a place that cannot be written: before data are prepared and a winner is trained again."""
    for option in ("out", "bundle", "folder", "recording"):
        if given := getattr(args, option):
            check_folder_place(option, Path(given))
    if args.patch:
        check_file_place("patch", Path(args.patch))


def _winner(reader: RunReader) -> Node | None:
    """As `winner_node`.

    Raises:
        ConfigError: it is a baseline that a version scored which kept no program of those that had not won.
    """
    node = winner_node(reader, reader.facts())
    if node is not None and not node.code and reader.node(node.id) is None:
        why = "an older version began the run and kept no program of it"
        raise ConfigError(
            f"run {reader.name}: the baseline {node.name} leads, and {why}; the end of a `resume` writes it"
        )
    return node


def _warn(reader: RunReader) -> None:
    """Who takes along a program that should not be used is told so."""
    verdict = conclusion_of(reader).verdict
    if verdict.kind == "worse":
        remark(f"warning: {verdict.text}")


def _message(run: str, problem: Problem, node: Node) -> str:
    """Of the commit: what it is, and where it comes from."""
    return f"{problem.unit} {node.metric_value:g}\n\nFound by swarm-evo, run {run}, node {node.id}."


def _bundle(run_dir: Path, out: Path) -> int:
    """What is stored, as it is stored: nothing is prepared and nothing is run."""
    from runs.proof.bundle import write_bundle

    with RunReader(run_dir) as reader:
        node = _winner(reader)
        if node is None:
            raise ConfigError(f"run {run_dir.name} has no valid program to export")
        _warn(reader)
        with writes("bundle", out):
            written = write_bundle(reader, node, out)
        for path in written:
            print(path)
    return 0


def _record(reader: RunReader, folder: Path) -> None:
    from core.backend.recording import save_recording

    with writes("recording", folder):
        save_recording(
            folder,
            reader.calls(),
            problem=reader.fact("problem"),
            recorded_at=reader.fact("started_at"),
            config=reader.fact("config"),
            scores={node.id: node.metric_value for node in reader.nodes()},
        )
    print(folder / "manifest.json")


def _refit(args: argparse.Namespace, config: Config, problem: Problem, node: Node, out: Path) -> list[Path]:
    from runs.composition import open_jobs

    seeds = args.seeds or seeds_for(node, config)
    if not args.seeds and seeds < SEEDS:
        remark(f"refit: {seeds} of {SEEDS} seeds, since a run took {node.exec_time:.0f} s (--seeds={SEEDS})")
    with open_jobs(config, problem, out, accept_unsandboxed=args.i_accept_unsandboxed) as (jobs, limits):
        return problem.refit(node, out, jobs, limits, seeds, remark)


def seeds_for(node: Node, config: Config) -> int:
    """SEEDS, or as many as fit into the REFIT_SHARE of `budget.seconds`; at least one."""
    seconds = config.budget.seconds
    if seconds is None or node.exec_time <= 0:
        return SEEDS
    return max(1, min(SEEDS, int(REFIT_SHARE * seconds / node.exec_time)))
