"""`step`: one step by hand, whole or stage by stage."""

from __future__ import annotations

import argparse
import json
from contextlib import nullcontext
from pathlib import Path

from cli.options import (
    add_config_options,
    add_run_argument,
    add_trust_option,
    changes_of,
    config_of,
    project_dir_of,
    remark,
)
from cli.run import EXTERNAL
from cli.terminal.best_so_far import BestSoFar
from cli.terminal.output import Output
from cli.terminal.step_text import step_lines
from cli.terminal.view import open_view
from core.contracts import STAGES
from runs.beginning.preflight import preflight
from runs.parts.operators import written_operator
from runs.run_folder import find_run
from runs.session import RunSession
from runs.stepper import Stepper
from runs.stored.config import stored_config
from runs.stored.named_files import said_how_to_give
from utils.config import to_plain
from utils.config_schema import Config
from utils.errors import ConfigError
from utils.program import command


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("step", help="add one step to a run, or start a run with one step")
    add_config_options(parser)
    add_run_argument(parser, optional=True)
    parser.add_argument("--node", metavar="ID", help="the parent; with --from the node whose earlier stages are used")
    parser.add_argument(
        "--operator", metavar="NAME", help="draft, debug, improve, merge, …: how the program is written"
    )
    parser.add_argument("--from", dest="since", choices=STAGES, help="run again from this stage")
    parser.add_argument("--until", choices=STAGES, help="stop after this stage; a later `step` goes on from there")
    add_trust_option(parser)
    parser.add_argument("--dry-run", action="store_true", help="store nothing, call nothing: show what would be done")


def run(args: argparse.Namespace) -> int:
    if args.since and args.until and STAGES.index(args.until) < STAGES.index(args.since):
        raise ConfigError(f"--until {args.until} comes before --from {args.since}; stages: {', '.join(STAGES)}")
    if args.dry_run and (args.since or args.until):
        raise ConfigError("--from and --until: `step --dry-run` does not read them; it shows the whole step")
    run_dir = None
    if args.run:
        project_dir = project_dir_of(args)
        run_dir = find_run(project_dir, args.run)
        config = stored_config(run_dir, changes_of(args), project_dir, remark, trusted=args.i_trust_this_run)
    else:
        config = config_of(args)
    again = said_how_to_give(to_plain(config), f"step {run_dir.name}") if run_dir else nullcontext()
    with again:
        return _step(args, config, run_dir)


def _step(args: argparse.Namespace, config: Config, run_dir: Path | None) -> int:
    preflight(config, calls_models=not args.dry_run)
    if args.operator:
        written_operator(config, args.operator)
    if args.dry_run:
        from runs.dry_run import dry_run

        print(json.dumps(dry_run(config, run_dir, args.node, args.operator), indent=2))
        return 0
    accepted, view = args.i_accept_unsandboxed, open_view("plain")
    with RunSession(config, run_dir, view=view, accept_unsandboxed=accepted, by_hand=True, early=args.early) as session:
        out, facts = Output(), session.facts
        best = BestSoFar(facts.problem.lower_is_better, facts.standing, facts.problem.family)
        stepper = Stepper(session)
        if config.llm.code.provider == EXTERNAL and args.until not in ("select", "prompt"):
            ask = command(config.project.dir, "ask", facts.run)
            out.say(f"a writer outside is waited for: `{ask}` in another window has the step's ticket")
        for line in step_lines(stepper.step(args.node, args.operator, args.since, args.until), best):
            out.say(line)
        if stepper.stays_ended:
            out.say(f"run {facts.run} stays ended: no node was added to it")
        elif stepper.opens_again:
            again = command(facts.config.project.dir, "resume", facts.run)
            out.say(f"run {facts.run} had ended; its winner and verdict are open again until `{again}` ends it anew")
    return 0
