"""`replay`: a stored run once more: verified without a single call, or shown move by move."""

from __future__ import annotations

import argparse
import json
import sys

from cli.options import (
    add_run_argument,
    add_trust_option,
    add_unsandboxed_option,
    project_dir_of,
    refuse_options,
    times,
)
from runs.run_folder import find_run
from utils.config import load_config
from utils.errors import ConfigError

SPEED = 10.0


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("replay", help="play a stored run again")
    add_run_argument(parser)
    parser.add_argument("--verify", action="store_true", help="search again from the record: 0 calls, equal hash")
    parser.add_argument("--serve", action="store_true", help="show it in the browser as it was")
    parser.add_argument("--speed", type=times, metavar="X", help=f"times as fast as it was ({SPEED:g})")
    parser.add_argument("--json", action="store_true", help="with --verify: `equal`, and a sentence")
    add_trust_option(parser)
    add_unsandboxed_option(parser)


def run(args: argparse.Namespace) -> int:
    if args.serve and args.verify:
        raise ConfigError("--verify and --serve: give one of them")
    if args.json and not args.verify:
        raise ConfigError("--json: only with --verify; a run's events as they were: `run --events`, or run.db")
    if args.verify:
        refuse_options(args, ("speed",), "replay --verify", "it searches again, as fast as it can")
    speed = args.speed or SPEED
    run_dir = find_run(project_dir_of(args), args.run)
    if args.serve:
        from dashboard.server.serving import serve_replay, token_of  # uvicorn only where something is served

        dashboard = load_config(None, args.overrides, check_presets=False).dashboard
        token = token_of(dashboard.token.get_secret_value() if dashboard.token else None)
        serve_replay(run_dir, dashboard.host, dashboard.port, speed, token)
        return 0
    if args.verify:
        from cli.terminal.replay_view import ReplayView
        from runs.proof.rerun import verify

        replayed = verify(
            run_dir,
            project_dir_of(args),
            accept_unsandboxed=args.i_accept_unsandboxed,
            trusted=args.i_trust_this_run,
            overrides=args.overrides,
            watched_by=ReplayView,
        )
        if args.json and replayed.is_done:
            print(json.dumps({"run": run_dir.name, "equal": replayed.equal, "text": replayed.text}, indent=2))
            return 0 if replayed.equal else replayed.exit_code
        print(replayed.text, file=sys.stdout if replayed.equal else sys.stderr)
        return 0 if replayed.equal else replayed.exit_code
    from cli.terminal.playback import play

    return play(run_dir, speed)
