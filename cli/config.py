"""`config`: every key with its default, what is allowed and what it means; or the keys below one."""

from __future__ import annotations

import argparse
import json
from contextlib import suppress
from dataclasses import asdict

from cli.options import add_config_options, config_of
from cli.terminal.keys_text import key_lines
from problems.registry import option_models
from runs.beginning.making_ready import fitted
from utils.config import to_plain
from utils.config_schema import Config
from utils.errors import ConfigError, SwarmEvoError
from utils.key_docs import KeyDoc, key_docs, option_docs
from utils.older_keys import HOMES
from utils.registry import nearest


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("config", help="every key: value, default, what is allowed, meaning")
    parser.add_argument("key", nargs="?", metavar="KEY", help="a key, or the beginning of some: search.max_steps, llm")
    parser.add_argument("--json", action="store_true")
    add_config_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print the keys with the values that these presets, files and words give, as a new run would take them."""
    config = config_of(args)
    with suppress(SwarmEvoError):  # a problem that is not there yet: its keys are what is asked for
        fitted(config)
    plain = to_plain(config)
    wanted = [f"search.{home}" for home in HOMES.get((args.key or "").removeprefix("search."), ())] or [args.key or ""]
    known = [*key_docs(config.plugin_folders), *_options_of(config)]
    docs = [doc for doc in known if any(_below(doc.key, key) for key in wanted)]
    if not docs:
        keys = [doc.key for doc in known]
        sections = dict.fromkeys(key.rpartition(".")[0] for key in keys if "." in key)
        raise ConfigError(f"config {args.key}: no such key{nearest(args.key, [*sections, *keys])}")
    if args.json:
        print(json.dumps([{**asdict(doc), "value": _value(plain, doc)} for doc in docs], indent=2, default=str))
        return 0
    for line in key_lines(docs, {doc.key: _value(plain, doc) for doc in docs}):
        print(line)
    return 0


def _options_of(config: Config) -> list[KeyDoc]:
    """What `problem.options` may hold, of the problem that is configured, if that can be found."""
    with suppress(ConfigError):
        return option_docs(option_models(config), "problem.options.")
    return []


def _below(key: str, wanted: str) -> bool:
    return not wanted or key == wanted or key.startswith(f"{wanted}.")


def _value(plain: object, doc: KeyDoc) -> object:
    """What the configuration has there; the default where it names nothing."""
    found = plain
    for part in doc.key.split("."):
        if not isinstance(found, dict) or part not in found:
            return doc.default
        found = found[part]
    return found
