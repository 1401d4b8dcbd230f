"""`resume`: go on with a run that was interrupted or killed, or give a finished one more budget."""

from __future__ import annotations

import argparse
from typing import Any

from cli.options import add_run_argument, project_dir_of
from cli.preflight import preflight
from cli.run_folder import find_run
from cli.session import RunSession
from core.storage.reader import RunReader
from utils.config import MASK, check_config, load_config, merge_overrides, to_plain
from utils.config_schema import Config
from utils.errors import ConfigError


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("resume", help="go on with a run; nothing answered or evaluated is done again")
    add_run_argument(parser)
    parser.add_argument("--i-accept-unsandboxed", action="store_true", help="needed with execution.sandbox=none")


def run(args: argparse.Namespace) -> int:
    run_dir = find_run(project_dir_of(args), args.run)
    config = stored_config(run_dir, args.overrides, project_dir_of(args))
    preflight(config)
    with RunSession(config, run_dir, accept_unsandboxed=args.i_accept_unsandboxed) as session:
        return session.run()


def stored_config(run_dir: Any, overrides: list[str], project_dir: str) -> Config:
    """The run's own configuration, secrets found again where they came from, with the user's changes on top."""
    with RunReader(run_dir) as reader:
        plain = reader.fact("config")
    if plain is None:
        raise ConfigError(f"run {run_dir.name} was killed before it began: it holds nothing, start it again")
    plain["project"]["dir"] = project_dir
    presets = {kind: plain["presets"][kind] for kind in ("problem", "llm")}
    fresh = to_plain(load_config(None, overrides, presets=presets), secrets=True)
    _unmask(plain, fresh)
    return check_config(merge_overrides(plain, overrides))


def _unmask(plain: dict[str, Any], fresh: dict[str, Any]) -> None:
    """A masked secret is read again from the environment through its preset; one typed by hand must be typed again."""
    for key, value in plain.items():
        if isinstance(value, dict) and isinstance(fresh.get(key), dict):
            _unmask(value, fresh[key])
        elif value == MASK:
            plain[key] = fresh.get(key)
