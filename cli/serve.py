"""`serve`: the live dashboard."""

from __future__ import annotations

import argparse
from pathlib import Path

from utils.config import load_config


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "serve",
        help="show runs live in the browser",
        description="Serve the dashboard. Keys such as --dashboard.host=0.0.0.0 or --project.dir=FOLDER work here too.",
    )
    parser.add_argument("--host", help="address (dashboard.host); other than 127.0.0.1 is served with a token only")
    parser.add_argument("--port", type=int, help="port, 0 for any free one (dashboard.port)")
    parser.add_argument("--token", help="what the page's address must hold (dashboard.token); `none`: anyone may ask")
    parser.add_argument("--config", help="a YAML file, as for `run`")


def run(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C. Raises ConfigError for an address that needs a token, or a port that is taken."""
    from dashboard.server.serving import serve, token_of

    given = {"dashboard.host": args.host, "dashboard.port": args.port, "dashboard.token": args.token}
    keys = [f"{key}={value}" for key, value in given.items() if value is not None]
    config = load_config(args.config, [*args.overrides, *keys], check_presets=False)
    dashboard = config.dashboard
    token = token_of(dashboard.token.get_secret_value() if dashboard.token else None)
    return serve(Path(config.project.dir), dashboard.host, dashboard.port, token, plugins=config.plugin_folders)
