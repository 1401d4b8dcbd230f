"""`python main.py serve`: the live dashboard."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the verb `serve` to the command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "serve",
        help="show runs live in the browser",
        description="Serve the dashboard. Keys such as --dashboard.host=0.0.0.0 or --project.dir=FOLDER work here too.",
    )
    parser.add_argument("--host", help="address (dashboard.host); other than 127.0.0.1 is served with a token only")
    parser.add_argument("--port", type=int, help="port, 0 for any free one (dashboard.port)")
    parser.add_argument("--token", help="what the page's address must hold (dashboard.token); `none`: anyone may ask")
    parser.add_argument("--config", help="a YAML file, as for `run`")
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace, overrides: list[str] | None = None) -> int:
    """Serve until Ctrl-C.

    Args:
        overrides: `key=value` texts of the command line that are not options of this verb.
    Raises:
        ConfigError: an address that needs a token, or a port that is taken.
    """
    from dashboard.server.serving import serve, token_of
    from utils.config import load_config

    given = {"dashboard.host": args.host, "dashboard.port": args.port, "dashboard.token": args.token}
    keys = [f"{key}={value}" for key, value in given.items() if value is not None]
    config = load_config(
        args.config, [*(overrides or getattr(args, "overrides", None) or ()), *keys], check_presets=False
    )
    dashboard = config.dashboard
    token = token_of(dashboard.token.get_secret_value() if dashboard.token else None)
    return serve(Path(config.project.dir), dashboard.host, dashboard.port, token, plugins=config.plugin_folders)
