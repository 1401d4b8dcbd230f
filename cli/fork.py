"""`fork`: a new run that begins with the line of descent of one node, edited by the user if wanted."""

from __future__ import annotations

import argparse

from cli.options import (
    add_llm_option,
    add_run_argument,
    add_trust_option,
    add_unsandboxed_option,
    changes_of,
    project_dir_of,
    remark,
)
from cli.run import add_output_options, print_result, tell_ready, view_of
from core.storage.reader import RunReader
from reports.named_node import named_node
from runs.beginning.preflight import preflight
from runs.run_folder import find_run
from runs.session import RunSession
from runs.stored.config import stored_config
from runs.stored.named_files import said_how_to_give
from utils.config import to_plain
from utils.user_text import user_text


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("fork", help="start a new run from a node of another")
    add_run_argument(parser)
    parser.add_argument("--node", metavar="NODE", required=True, help="its id, first digits of it, or a step number")
    parser.add_argument("--edit", metavar="FILE", help="a program that takes the node's place")
    add_trust_option(parser)
    add_output_options(parser)
    add_llm_option(parser)
    add_unsandboxed_option(parser)


def run(args: argparse.Namespace) -> int:
    project_dir = project_dir_of(args)
    run_dir = find_run(project_dir, args.run)
    with RunReader(run_dir) as reader:
        node = named_node(reader, args.node)
    code = user_text(args.edit, "--edit ") if args.edit else node.code
    config = stored_config(run_dir, changes_of(args), project_dir, remark, trusted=args.i_trust_this_run)
    config.initial = []
    with said_how_to_give(to_plain(config), f"fork {run_dir.name} --node {node.id}"):
        preflight(config)
        name = f"{run_dir.name}/{node.id}" + (" edited" if args.edit else "")
        origin = {"fork_of": run_dir.name, "node": node.id, "edited": bool(args.edit)}
        with RunSession(
            config,
            view=view_of(args, config),
            accept_unsandboxed=args.i_accept_unsandboxed,
            origin=origin,
            programs=[(name, code)],
            early=args.early,
        ) as session:
            tell_ready(args, session)
            code_of_end, new = session.run(), session.run_dir
    print_result(args, new)
    return code_of_end
