"""`sweep`: the same search with several settings and seeds, and a table of what differs."""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from cli.options import add_config_options, config_of, count, project_dir_of, refuse_options
from cli.terminal.output import say_finishing
from core.storage.held import is_held
from reports.run_index import RunIndex
from reports.sweeps.lines import sweep_lines
from reports.sweeps.plan import Cell, Plan, sweep_folder
from reports.sweeps.table import CellFacts, SweepTable, cell_facts, table_of
from runs.run_folder import all_runs, check_place, hold, later_than_all, logs_dir
from runs.sweeps.cells import run_cells
from runs.sweeps.words import check_runs, seeds_of, settings_of
from utils.counts import counted
from utils.errors import ConfigError
from utils.program import command

SHOW = "show"
SEEDS = "1..5"
EXAMPLE = ("--vary", "search.policy=three_phase,mcts")
_OF_RUNS = ("seeds", "vary", "case", "name", "jobs", "config", "problem", "llm", "i_accept_unsandboxed")
"""Options that say what a sweep runs."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "sweep",
        help="compare settings over seeds: policies, prompts, models",
        description="One run for each setting and seed, of one search where nothing varies; the same command goes on "
        "where it was stopped. `sweep show NAME` prints the table of one that is finished or under way; `sweep show` "
        "lists all.",
    )
    parser.add_argument(
        "what", nargs="*", metavar="show [NAME]", help="print a sweep, or the list of them, and run none"
    )
    parser.add_argument("--seeds", metavar="A..B", help="1..5 (the default) or 1,2,7")
    parser.add_argument(
        "--vary", action="append", default=[], metavar="KEY=A,B", help="values of a configuration key, or of --llm"
    )
    parser.add_argument(
        "--case",
        action="append",
        default=[],
        metavar="KEY=V[,KEY=V]",
        help="one more setting beside those of --vary; without them the cases are all there is",
    )
    parser.add_argument("--name", help="of the sweep (default: made from what it runs)")
    parser.add_argument("--jobs", type=count, metavar="N", help="runs at once (1); each has its own workers")
    parser.add_argument("--json", action="store_true", help="the table, and every run, as JSON")
    add_config_options(parser)


def run(args: argparse.Namespace) -> int:
    if args.what:
        return _show(args)
    if not (args.seeds or args.vary or args.case):
        raise ConfigError("sweep: say what differs, as in --seeds 1..5 or --vary search.policy=three_phase,mcts")
    settings, seeds = settings_of(args.vary, args.case), seeds_of(args.seeds or SEEDS)
    check_runs(settings, seeds)
    check_place(config_of(args).project.dir)
    plan = Plan(words=_common(args), settings=settings, seeds=seeds)
    for setting in plan.settings:
        _check(args, setting)
    folder = sweep_folder(logs_dir(config_of(args).project.dir), args.name or plan.default_name)
    folder.mkdir(parents=True, exist_ok=True)
    with hold(folder):  # whoever looks sees that it goes on, also between two of its runs
        whole = plan.with_those_of(folder)
        check_runs(whole.settings, whole.seeds)
        whole.keep(folder, later_than_all(config_of(args).project.dir, datetime.now(UTC)))
        runs = counted(len(plan.cells), "run")
        print(f"sweep {folder.name}: {runs}; `sweep show {folder.name}` looks at it", file=sys.stderr)
        run_cells(plan, folder, args.jobs or 1, _teller(folder, len(plan.cells)), partial(say_finishing, False))
    return _print(args, table_of(whole, folder, is_held))


def _show(args: argparse.Namespace) -> int:
    if len(args.what) > 2 or args.what[0] != SHOW:
        raise ConfigError(f"sweep {' '.join(args.what)}: write `sweep show [NAME]`, or `sweep --vary KEY=A,B`")
    refuse_options(args, _OF_RUNS, "sweep show", "it prints what was run")
    if args.what == [SHOW]:
        return _list(args)
    folder = sweep_folder(logs_dir(project_dir_of(args)), args.what[1])
    return _print(args, table_of(Plan.read(folder), folder, is_held))


def _list(args: argparse.Namespace) -> int:
    project_dir = project_dir_of(args)
    logs = logs_dir(project_dir)
    runs = {folder.name: listed.line for folder, listed in RunIndex(logs).lines(all_runs(project_dir)).items()}
    lines = sweep_lines(logs, runs)
    if args.json:
        print(json.dumps([line.model_dump() for line in lines], indent=2))
    elif lines:
        from cli.terminal.sweep_text import print_sweeps

        print_sweeps(lines)
    else:
        print(f"no sweeps yet; compare settings over seeds: `{command(project_dir, 'sweep', *EXAMPLE)}`")
    return 0


def _common(args: argparse.Namespace) -> tuple[str, ...]:
    """The words that all runs share, without those that say where and whether they are kept."""
    named = [f"--{kind}={value}" for kind in ("config", "problem", "llm") if (value := getattr(args, kind))]
    accepted = ["--i-accept-unsandboxed"] if args.i_accept_unsandboxed else []
    keys = [f"--{word}" for word in args.overrides if not word.startswith("project.dir=")]
    if any(word.startswith("--project.seed=") for word in keys):
        raise ConfigError("project.seed: a sweep has seeds of its own, --seeds")
    return (*named, *accepted, *keys)


def _check(args: argparse.Namespace, setting: tuple[str, ...]) -> None:
    """Raise ConfigError for a setting that no run could have, before any begins."""
    presets = [word.removeprefix("llm=") for word in setting if word.startswith("llm=")]
    keys = [word for word in setting if not word.startswith("llm=")]
    varied = argparse.Namespace(**{**vars(args), "overrides": [*args.overrides, *keys]})
    varied.llm = presets[0] if presets else args.llm
    config_of(varied)


def _teller(folder: Path, runs: int) -> Callable[[Cell, str], None]:
    """Says on standard error which run begins, how many have ended, and with which score."""
    ended, lock = 0, threading.Lock()

    def told(cell: Cell, what: str) -> None:
        nonlocal ended
        with lock:
            has_ended = what in ("known", "done")
            ended += has_ended
            score = _score(cell_facts(folder, cell)) if has_ended else ""
            print(f"[{ended}/{runs}] {what}: {' '.join(cell.words)}{score}", file=sys.stderr, flush=True)

    return told


def _score(facts: CellFacts) -> str:
    where = "validation" if facts.final_metric is None else "the unseen part"
    score = facts.metric if facts.final_metric is None else facts.final_metric
    return f": {'no valid program' if score is None else f'{score:.6g} on {where}'}, {facts.run}"


def _print(args: argparse.Namespace, table: SweepTable) -> int:
    if args.json:
        print(json.dumps(table.model_dump(mode="json"), indent=2))
    else:
        from cli.terminal.sweep_text import print_sweep

        print_sweep(table)
    return 0
