"""`resume`: go on with a run that was interrupted or killed, or give a finished one more budget."""

from __future__ import annotations

import argparse

from cli.options import (
    add_idle_option,
    add_llm_option,
    add_run_argument,
    add_trust_option,
    add_unsandboxed_option,
    changes_of,
    project_dir_of,
    remark,
)
from cli.run import add_output_options, origin_words, print_result, tell_ready, view_of
from runs.beginning.preflight import preflight
from runs.run_folder import find_run
from runs.session import RunSession
from runs.stored.config import stored_config
from runs.stored.named_files import said_how_to_give
from utils.config import to_plain


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "resume",
        help="go on with a run; nothing answered or evaluated is done again",
        description="Goes on with an interrupted run. A finished one goes on where a key gives it more than what ended "
        "it: `resume RUN --search.max_steps=200`, `--budget.seconds=600`, `--budget.usd=5`. `--llm=NAME` lets another "
        "model write from here on.",
    )
    add_run_argument(parser)
    add_output_options(parser)
    add_trust_option(parser)
    add_llm_option(parser)
    add_unsandboxed_option(parser)
    add_idle_option(parser)


def run(args: argparse.Namespace) -> int:
    run_dir = find_run(project_dir_of(args), args.run)
    config = stored_config(run_dir, changes_of(args), project_dir_of(args), remark, trusted=args.i_trust_this_run)
    with said_how_to_give(to_plain(config), f"resume {run_dir.name}"):
        preflight(config)
        view = view_of(args, config)
        accepted = args.i_accept_unsandboxed
        origin = {"words": origin_words(args.words)}
        with RunSession(
            config, run_dir, view=view, accept_unsandboxed=accepted, origin=origin, idle=args.idle, early=args.early
        ) as session:
            tell_ready(args, session)
            code = session.run()
    print_result(args, run_dir)
    return code
