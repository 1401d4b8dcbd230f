"""Words → verb, options and configuration keys. One line and exit code 2 for what cannot be understood."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from cli.early_server import early_server
from cli.machine_faults import check_surroundings, machine_fault, package_fault
from cli.read_keys import check_keys
from cli.terminal.visible_output import visible_output
from utils.collector import no_collections
from utils.errors import ConfigError, SwarmEvoError
from utils.program import program
from utils.room import room_that_lacked

if TYPE_CHECKING:
    from core.executor.early import EarlyServer

VERBS: dict[str, str] = {
    "run": "cli.run",
    "step": "cli.step",
    "resume": "cli.resume",
    "replay": "cli.replay",
    "fork": "cli.fork",
    "list-runs": "cli.list_runs",
    "show": "cli.show",
    "compare": "cli.compare",
    "report": "cli.report",
    "verify": "cli.verify",
    "ask": "cli.ask",
    "check": "cli.check",
    "tell": "cli.tell",
    "wait": "cli.wait",
    "give-up": "cli.give_up",
    "mcp": "cli.mcp",
    "setup": "cli.setup",
    "export-best": "cli.export_best",
    "export": "cli.export",
    "sweep": "cli.sweep",
    "init": "cli.init",
    "serve": "cli.serve",
    "doctor": "cli.doctor",
    "arena": "cli.arena",
    "demo": "cli.demo",
    "config": "cli.config",
    "tag": "cli.tag",
    "rm": "cli.rm",
    "completion": "cli.completion",
}
"""Verb → module with `add_parser(subparsers)` and `run(args) -> exit code`. One file a verb."""

EPILOG = """\
examples:
  python main.py                                             search the default competition with rules, no key needed
  python main.py run --problem bin_packing --search.max_steps=200
  python main.py --problem competition --problem.name=churn --llm=openai --llm.code.model=gpt-5-mini
  python main.py --data.dir=mydata --data.goal="predict price" --data.target=price --data.metric=rmse
  python main.py show latest
  python main.py resume latest
  python main.py export-best latest

configuration keys are dotted and written with `=`; every key, its value and its meaning: python main.py config [KEY]
"""


class _Parser(argparse.ArgumentParser):
    def _print_message(self, message: str, file: Any = None) -> None:
        """argparse passes over what cannot be written."""
        (file or sys.stderr).write(message)

    def error(self, message: str) -> NoReturn:
        verb = self.prog.partition(" ")[2]  # `main` says the program's name
        raise ConfigError(f"{verb}: {message}" if verb else message)

    def format_help(self) -> str:
        """`run -h` lists every configuration key too."""
        text = super().format_help()
        if not self.prog.endswith(" run"):
            return text
        from cli.terminal.keys_text import key_lines
        from utils.key_docs import key_docs

        return "\n".join([text, "configuration keys (--KEY=VALUE or KEY=VALUE):", "", *key_lines(key_docs()), ""])


class _VerbParser(_Parser):
    """A verb's words in any order: argparse alone finds no NODE in `show RUN --json NODE`, as RUN took both places."""

    _within = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self._within or {"-h", "--help"} & set(args or ()):
            return super().parse_known_args(args, namespace)
        self._within = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._within = False


def build_parser(verb: str | None = None) -> argparse.ArgumentParser:
    """The parser with one verb's options, with all verbs' for the overview, or with none ('')."""
    parser = _Parser(
        prog="swarm-evo",
        description="Searches for programs: writes candidates, runs them in a sandbox, scores them, keeps the proof.",
        epilog=EPILOG.replace("python main.py", program()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    if not verb:
        from swarm_evo import __version__  # with the whole Python API, which no verb needs

        parser.add_argument("--version", action="version", version=f"swarm-evo {__version__}")
    subparsers = parser.add_subparsers(dest="verb", metavar="VERB", parser_class=_VerbParser)
    for name, module in VERBS.items():
        if verb is None or name == verb:
            importlib.import_module(module).add_parser(subparsers)
    _say_what_is_meant(subparsers)
    return parser


def _say_what_is_meant(subparsers: Any) -> None:
    """`VERB -h` begins with what the overview says of the verb, and no option is without a word."""
    said = {choice.dest: choice.help for choice in subparsers._choices_actions}
    for name, verb in subparsers.choices.items():
        sentence = f"{said[name][0].upper()}{said[name][1:]}.".replace("?.", "?")
        if said[name].split()[0] not in (verb.description or "").lower():
            verb.description = "\n\n".join(filter(None, (sentence, verb.description)))
        for action in verb._actions:
            if "--json" in action.option_strings and action.help is None:
                action.help = "the same as JSON"


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Understand the command line.

    Returns a namespace with `verb`, the verb's own options, and `overrides`: the configuration keys as `key=value`.
    """
    words = [*words[1:2], "-h"] if words[:1] == ["help"] else list(words)
    overview = not words[:1] or words[0] not in VERBS
    if overview and words[:1] in (["-h"], ["--help"], ["--version"]):
        build_parser("" if words[0] == "--version" else None).parse_args(words)
    if overview:
        if words and not words[0].startswith("-") and "=" not in words[0]:
            from utils.config import known_keys  # what these load is needed only here
            from utils.registry import nearest

            if words[0] in known_keys():
                raise ConfigError(f"'{words[0]}': configuration keys are written with '=', as in {words[0]}=VALUE")
            raise ConfigError(f"unknown verb '{words[0]}'{nearest(words[0], list(VERBS))}; allowed: {', '.join(VERBS)}")
        words.insert(0, "run")
    rest, overrides = _split(words)
    parser = build_parser(rest[0])
    args, unknown = parser.parse_known_args(rest)
    if unknown:
        from cli.hint import meant  # what it loads is needed only here

        raise ConfigError(f"{rest[0]}: unrecognized arguments: {' '.join(unknown)}{meant(unknown[0], parser, args)}")
    check_keys(rest[0], overrides, args)
    args.overrides = overrides
    args.words = words
    return args


_TEXTS = frozenset({"--vary", "--case", "--title", "--note"})
"""Options of which the next word is a text, whatever it looks like: a key and its values, or the user's own words."""
_TELLING = ("tell", "check")
"""Verbs of which `--plan` takes a text; of `run` it takes none."""


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Configuration keys apart from the verb's own words: `--a.b=c`, `a.b=c`, `--initial=FILE`, `--plugins=DIR`,
    `--final=part`."""
    rest: list[str] = []
    overrides: list[str] = []
    for number, word in enumerate(words):
        if rest[-1:] and (rest[-1] in _TEXTS or (rest[-1] == "--plan" and rest[0] in _TELLING)):
            if word.startswith("-") and not word.startswith("--"):
                rest[-1] += f"={word}"  # argparse would take it for an option
            else:
                rest.append(word)
            continue
        key, equals, value = word.partition("=")
        name = key.removeprefix("--")
        if key == "--" and equals:
            raise ConfigError(f"'{word}' names no key; one is written --key.of.it=value")
        if word == "--llm" and words[:1] == ["doctor"] and not _names_preset(words[number + 1 :]):
            rest += [] if any(other.startswith("--llm=") for other in words) else ["--llm="]
            continue
        if words[:1] == ["tag"] and word.startswith("-") and word[1:2] not in ("-", "") and word != "-h":
            rest.append(f"~{word[1:]}")  # argparse would take `-draft` for an option
            continue
        dotted = "." in name and name.replace(".", "").replace("_", "").isalnum()
        if dotted and not equals and key.startswith("--"):
            raise ConfigError(f"'{word}': configuration keys are written with '=', as in {key}=VALUE")
        if equals and (dotted or name in ("initial", "plugins", "final")):
            overrides.append(f"{name}={value}")
        else:
            rest.append(word)
    return rest, overrides


def _names_preset(after: Sequence[str]) -> bool:
    """Whether the word after `--llm` is its value, and not another option or key."""
    return bool(after) and not after[0].startswith("-") and "=" not in after[0]


MAIN_FOLDER = Path(__file__).parents[1]
"""Holds our own packages."""


def main(words: Sequence[str]) -> int:
    """Run a verb; every error raised on purpose becomes one line on stderr and its exit code."""
    with visible_output():
        return _run(words)


def _run(words: Sequence[str]) -> int:
    try:
        check_surroundings(words)
        with early_server(words) as early:
            code = _code_of(words, early)
        with suppress(BrokenPipeError):  # who stops reading does not change how it ended
            sys.stdout.flush()  # a full disk behind it is told now: the process's end would pass over it
        return code
    except SwarmEvoError as error:
        print(error.line + room_that_lacked(error.line), file=sys.stderr)
        return error.exit_code
    except ImportError as error:
        if not (told := package_fault(error, MAIN_FOLDER)):
            raise  # a fault of ours, not something to install
        print(f"swarm-evo: {told}; in a checkout: make install, then .venv/bin/python main.py", file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except (OSError, MemoryError, RuntimeError) as error:
        if (fault := machine_fault(error)) is None:
            raise
        print(f"swarm-evo: {fault.line}", file=sys.stderr)
        return fault.code
    except KeyboardInterrupt:
        print("swarm-evo: interrupted", file=sys.stderr, flush=True)
        sys.stdout.flush()
        if threading.active_count() > 1:
            os._exit(130)  # everything is stored and closed; the interpreter would wait for threads that were given up
        return 130


def _code_of(words: Sequence[str], early: EarlyServer | None) -> int:
    try:
        with no_collections():  # most of what a verb imports is imported here, and none of it is garbage
            args = parse(words)
    except SystemExit as left:  # argparse after `-h`
        return int(left.code or 0)
    args.early = early
    return int(importlib.import_module(VERBS[args.verb]).run(args))
