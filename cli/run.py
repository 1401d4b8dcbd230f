"""`run`: a new search (the default verb)."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from cli.options import add_config_options, add_idle_option, config_of, refuse_options
from cli.terminal.view import MOMENT_SECONDS, open_view
from core.storage.reader import RunReader
from runs.beginning.preflight import preflight
from runs.beginning.run_plan import planned
from runs.session import RunSession
from runs.stored.reading import run_facts
from runs.view import View
from utils.config_schema import Config
from utils.errors import ConfigError
from utils.file_utils import in_place_of
from utils.secrets import masked_word
from utils.user_places import check_file_place, make_folder_of, writes

EXTERNAL = "external"
"""The preset and the provider of a run that is written from outside."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("run", help="search (the default verb)")
    add_config_options(parser)
    add_output_options(parser)
    parser.add_argument("--writer", choices=[EXTERNAL], help="programs come from outside: `ask` and `tell`")
    add_idle_option(parser)
    parser.add_argument("--plan", action="store_true", help="say as JSON what the run would be, and start nothing")


def run(args: argparse.Namespace) -> int:
    if args.writer:
        args.llm = args.llm or args.writer
    config = config_of(args)
    if args.writer and config.llm.code.provider != EXTERNAL:
        raise ConfigError(
            f"--writer=external: llm.code.provider={config.llm.code.provider} says who else writes; name one"
        )
    if args.plan:
        refuse_options(args, ("ready", "events"), "run --plan", "it starts nothing")
        plan = planned(config, accept_unsandboxed=args.i_accept_unsandboxed, doing=_teller())
        print(json.dumps(plan, indent=2))
        return 0
    preflight(config)
    with RunSession(
        config,
        view=view_of(args, config),
        accept_unsandboxed=args.i_accept_unsandboxed,
        origin={"words": origin_words(args.words)},
        idle=args.idle,
        early=args.early,
    ) as session:
        tell_ready(args, session)
        code = session.run()
        run_dir = session.run_dir
    print_result(args, run_dir)
    return code


def _teller() -> Callable[[str], None]:
    """Says on stderr what takes long, every other second; a reader who has gone is no reason to stop."""
    last = time.monotonic()

    def tell(text: str) -> None:
        nonlocal last
        if text and time.monotonic() - last >= MOMENT_SECONDS:
            last = time.monotonic()
            with suppress(OSError):
                print(f"… {text}", file=sys.stderr, flush=True)

    return tell


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """How a program that starts a run hears of it."""
    parser.add_argument("--ready", metavar="FILE", help="write the run's name there as soon as it can be asked")
    parser.add_argument("--json", action="store_true", help="print the run's facts as JSON at the end")
    parser.add_argument("--events", action="store_true", help="print what happens as JSON lines, the run's facts last")


def tell_ready(args: argparse.Namespace, session: RunSession) -> None:
    """Who waits for the file to be there finds it whole."""
    if args.ready:
        path = Path(args.ready)
        make_folder_of("ready", path)
        with writes("ready", path):
            with in_place_of(path) as new:
                new.write_text(session.facts.run, encoding="utf-8")


def view_of(args: argparse.Namespace, config: Config) -> View:
    """Who watches. Raises ConfigError where `--ready` cannot be written: nothing has run yet."""
    if args.ready:
        check_file_place("ready", Path(args.ready))
    if args.events:
        from cli.terminal.events_view import EventsView

        return EventsView()
    return open_view("quiet" if args.json else config.logging.view)


def print_result(args: argparse.Namespace, run_dir: Path) -> None:
    """The run's facts, where a program asked for them."""
    if not (args.json or args.events):
        return
    with RunReader(run_dir) as reader:
        facts = run_facts(reader)
    print(json.dumps({"type": "result", "facts": facts}) if args.events else json.dumps(facts, indent=2), flush=True)


def origin_words(words: list[str]) -> list[str]:
    """The command as it was typed, secrets masked: the report shows how to repeat the run."""
    joined: list[str] = []
    for word in words:  # an option that a resume may give anew is one word, as keys are
        joined[-1:] = [f"--llm={word}"] if joined[-1:] == ["--llm"] else [*joined[-1:], word]
    return [masked_word(word) for word in joined]
