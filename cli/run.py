"""`run`: a new search (the default verb)."""

from __future__ import annotations

import argparse
import json

from cli.options import add_config_options, config_of
from cli.terminal.view import open_view
from core.storage.reader import RunReader
from runs.preflight import preflight
from runs.reading import run_facts
from runs.session import RunSession
from utils.secrets import masked, masked_address


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("run", help="search (the default verb)")
    add_config_options(parser)
    parser.add_argument("--json", action="store_true", help="print the run's facts as JSON at the end")


def run(args: argparse.Namespace) -> int:
    config = config_of(args)
    preflight(config)
    with RunSession(
        config,
        view=open_view("quiet" if args.json else config.logging.view),
        accept_unsandboxed=args.i_accept_unsandboxed,
        origin={"words": origin_words(args.words)},
    ) as session:
        code = session.run()
        run_dir = session.run_dir
    if args.json:
        with RunReader(run_dir) as reader:
            print(json.dumps(run_facts(reader), indent=2))
    return code


def origin_words(words: list[str]) -> list[str]:
    """The command as it was typed, secrets masked: the report shows how to repeat the run."""
    return [_masked_word(word) for word in words]


def _masked_word(word: str) -> str:
    key, equals, value = word.partition("=")
    return f"{key}={masked(value, tuple(key.lstrip('-').split('.')))}" if equals else masked_address(word)
