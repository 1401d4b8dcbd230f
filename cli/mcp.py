"""`mcp`: the search as tools of a coding agent, by the Model Context Protocol over standard input and output."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import redirect_stdout, suppress

from runs.mcp.handlers import handler_of
from runs.mcp.tools import INSTRUCTIONS, ROLES
from swarm_evo import __version__
from utils.errors import ConfigError
from utils.mcp_lines import lines_of
from utils.mcp_protocol import Handler, McpServer


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("mcp", help="serve a coding agent (`setup` writes the entry into its settings)")
    parser.add_argument("--role", default=",".join(ROLES), metavar="LIST", help=f"of {', '.join(ROLES)} (all)")


def run(args: argparse.Namespace) -> int:
    roles = [role.strip() for role in args.role.split(",") if role.strip()]
    unknown = [role for role in roles if role not in ROLES]
    if unknown or not roles:
        raise ConfigError(f"--role {args.role}: allowed: {', '.join(ROLES)}, several with commas between them")
    tools = [tool for role in dict.fromkeys(roles) for tool in ROLES[role]]
    with suppress(OSError), open(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as client:

        def write(line: str) -> None:
            with suppress(OSError, ValueError):  # nobody hears it any more, or the server has ended
                client.write(line)
                client.flush()

        with redirect_stdout(sys.stderr):  # whatever is printed by the way is no message
            handle = _handle(args, {tool.name for tool in tools})
            server = McpServer(tools, handle, write, version=__version__, instructions=INSTRUCTIONS)
            server.serve(lines_of(sys.stdin.buffer))
    return 0


def _handle(args: argparse.Namespace, served: set[str]) -> Handler:
    def project_dir() -> str:
        from cli.options import project_dir_of

        return project_dir_of(args)

    return handler_of(project_dir, served)
