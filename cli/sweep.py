"""`sweep`: the same search with several settings and seeds, and a table of what differs."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from functools import partial

from cli.options import add_config_options, agreed, config_of, count, project_dir_of, refuse_options
from cli.terminal.output import say_finishing
from reports.sweeps.plan import Plan
from reports.sweeps.table import SweepTable
from runs.run_folder import check_place
from runs.sweeps.sweep import all_sweeps, remove_sweep, run_sweep, runs_of_sweep, stored_sweep
from runs.sweeps.words import check_runs, seeds_of, settings_of
from utils.counts import counted
from utils.errors import ConfigError
from utils.program import command

SHOW, REMOVE = "show", "rm"
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
        "what", nargs="*", metavar="show [NAME] | rm NAME", help="print a sweep, or the list of them; remove one"
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
    parser.add_argument("--yes", action="store_true", help="`sweep rm`: do not ask")
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
    table = run_sweep(
        plan,
        config_of(args).project.dir,
        name=args.name,
        jobs=args.jobs or 1,
        tell=partial(print, file=sys.stderr, flush=True),
        finishing=partial(say_finishing, False),
    )
    return _print(args, table)


def _show(args: argparse.Namespace) -> int:
    if len(args.what) == 2 and args.what[0] == REMOVE:
        return _remove(args)
    if len(args.what) > 2 or args.what[0] != SHOW:
        told = "write `sweep show [NAME]`, `sweep rm NAME`, or `sweep --vary KEY=A,B`"
        raise ConfigError(f"sweep {' '.join(args.what)}: {told}")
    refuse_options(args, _OF_RUNS, "sweep show", "it prints what was run")
    if args.what == [SHOW]:
        return _list(args)
    return _print(args, stored_sweep(project_dir_of(args), args.what[1]))


def _remove(args: argparse.Namespace) -> int:
    """A sweep with all its runs."""
    refuse_options(args, _OF_RUNS, "sweep rm", "it removes what was run")
    if args.json and not args.yes:
        raise ConfigError("sweep rm --json: a program asks nobody; add --yes to mean it")
    project_dir, name = project_dir_of(args), args.what[1]
    runs = runs_of_sweep(project_dir, name)
    named = ", ".join(run.name for run in runs) or "none is there"
    if not args.yes and not agreed("sweep rm", f"sweep {name} and its {counted(len(runs), 'run')} ({named})"):
        print("nothing is removed")
        return 0
    removed = remove_sweep(project_dir, name, (lambda line: None) if args.json else print)
    if args.json:
        print(json.dumps(asdict(removed), indent=2))
    return 0


def _list(args: argparse.Namespace) -> int:
    project_dir = project_dir_of(args)
    lines = all_sweeps(project_dir)
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


def _print(args: argparse.Namespace, table: SweepTable) -> int:
    if args.json:
        print(json.dumps(table.model_dump(mode="json"), indent=2))
    else:
        from cli.terminal.sweep_text import print_sweep

        print_sweep(table)
    return 0
