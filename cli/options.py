"""Options that several verbs share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from contextlib import suppress
from math import isfinite
from typing import TYPE_CHECKING, Any

from problems.data_sets import words_for
from utils.config_places import CONFIG_DIR, plain_project_dir
from utils.errors import ConfigError

if TYPE_CHECKING:
    from utils.config_schema import Config


def add_config_options(parser: argparse.ArgumentParser) -> None:
    """For verbs that begin something new."""
    parser.add_argument("--config", metavar="FILE", help="YAML file; config/default.yaml if absent")
    parser.add_argument("--problem", metavar="NAME", help=f"problem preset ({_presets('problem')}), or a YAML file")
    add_llm_option(parser)
    add_unsandboxed_option(parser)


def add_llm_option(parser: argparse.ArgumentParser) -> None:
    """Who writes: for verbs that begin a run or go on with one."""
    parser.add_argument("--llm", metavar="NAME", help=f"language model preset ({_presets('llm')}), or a YAML file")


def _presets(kind: str) -> str:
    return ", ".join(sorted(path.stem for path in (CONFIG_DIR / kind).glob("*.yaml")))


def add_unsandboxed_option(parser: argparse.ArgumentParser) -> None:
    """For verbs that run candidates."""
    parser.add_argument(
        "--i-accept-unsandboxed", action="store_true", help="needed with execution.sandbox=none: code runs as you"
    )


def count(text: str) -> int:
    """A number of things, as an argument's type."""
    if text.isdecimal() and text.isascii() and len(text) < 19 and int(text) >= 1:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text[:80]}: a whole number from 1 on")


def seconds(text: str) -> float:
    """How long to wait, as an argument's type."""
    with suppress(ValueError):
        if isfinite(value := float(text)) and value >= 0:
            return value
    raise argparse.ArgumentTypeError(f"{text[:80]}: a number of seconds from 0 on")


def times(text: str) -> float:
    """How many times as fast, as an argument's type."""
    with suppress(ValueError):
        if isfinite(value := float(text)) and value > 0:
            return value
    raise argparse.ArgumentTypeError(f"{text[:80]}: a number above 0")


def add_idle_option(parser: argparse.ArgumentParser) -> None:
    """For verbs that hand tickets to external writers."""
    parser.add_argument(
        "--idle", type=seconds, metavar="SECONDS", help="external writer: end when nobody asked or told for so long"
    )


def config_of(args: argparse.Namespace) -> Config:
    """The configuration that the words name."""
    from utils.config import load_config

    named = {kind: getattr(args, kind) for kind in ("problem", "llm") if getattr(args, kind, None)}
    if meant := words_for(named.get("problem", "")):
        raise ConfigError(f"--problem={named['problem']}: that is a data set, no problem; you mean `{meant}`")
    return load_config(getattr(args, "config", None), args.overrides, presets=named, translate=seed_style, note=remark)


def changes_of(args: argparse.Namespace) -> list[str]:
    """What the words change of a stored run, as `key=value`: `--llm=NAME` among it.

    Raises:
        ConfigError: an option that only a new run has.
    """
    for name in ("config", "problem"):
        if (given := getattr(args, name, None)) is not None:
            raise ConfigError(f"--{name} {given}: {args.verb} RUN goes on with a stored run, which keeps its own")
    llm = getattr(args, "llm", None)
    return [*([f"presets.llm={llm}"] if llm else []), *args.overrides]


def refuse_options(args: argparse.Namespace, names: Iterable[str], what: str, why: str) -> None:
    """Raise ConfigError for an option that is given where it says something to nobody.

    Args:
        names: of the options, as the namespace has them; those that are not given are None, False or [].
        what: the verb and the way it is used: `sweep show`. `why`: what it does instead.
    """
    for name in names:
        if getattr(args, name, None) not in (None, False, []):
            raise ConfigError(f"--{name.replace('_', '-')}: `{what}` does not read it; {why}")


def agreed(verb: str, what: str) -> bool:
    """Ask a person whether `what` is to be removed. ConfigError where nobody is there."""
    if not sys.stdin.isatty():
        raise ConfigError(f"{verb}: nobody is there to ask; add --yes to mean it")
    try:
        return input(f"remove {what} with all files? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:  # Ctrl-D: no answer
        print()
        return False


def remark(text: str) -> None:
    """A line beside the verb's own output: standard error, so that `--json` stays JSON."""
    print(text, file=sys.stderr)


def seed_style(plain: dict[str, Any]) -> dict[str, Any]:
    """A file in the seed's form (FunSearch-Lite) becomes ours; any other stays as it is."""
    from problems.bin_packing.seed_yaml import is_seed_style, translate

    return translate(plain) if is_seed_style(plain) else plain


def project_dir_of(args: argparse.Namespace) -> str:
    """`project.dir` for verbs that only look at runs."""
    if (plain := plain_project_dir(args.overrides)) is not None:
        return plain
    from utils.config import load_config

    return load_config(None, args.overrides, check_presets=False).project.dir


def add_run_argument(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    if optional:
        parser.add_argument("run", nargs="?", metavar="RUN", help="run id or `latest`")
    else:
        parser.add_argument("run", metavar="RUN", help="run id or `latest`")


def add_trust_option(parser: argparse.ArgumentParser) -> None:
    """For verbs that execute what a stored run names; see `runs.stored.trust`."""
    parser.add_argument("--i-trust-this-run", action="store_true", help="run the code that a run from elsewhere names")
