"""`doctor`: is this machine fit, and what to do about what is not."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.options import add_config_options, config_of, refuse_options
from runs.machine import examined
from utils.clean_data import clean_data
from utils.direction import Direction
from utils.errors import ConfigError
from utils.scratch_folders import scratch_folder

if TYPE_CHECKING:
    from core.evaluation.isolation.cheats import Aim, CheatResult
    from problems.evaluator_forms import Template


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "doctor",
        help="check this machine, the models, or an evaluator",
        description="Checks this machine. With `--llm` it asks the models of the configuration three tiny questions "
        "too, with `--llm=NAME` those of that preset.",
    )
    add_config_options(parser)
    parser.add_argument(
        "--evaluator",
        metavar="FILE",
        help="attack an evaluator with known cheats; beside it lies initial_program.py, initial.py, program.py or "
        "solution.py",
    )
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> int:
    if args.evaluator:
        refuse_options(
            args,
            ("config", "problem", "llm", "i_accept_unsandboxed"),
            "doctor --evaluator",
            "it attacks that file alone",
        )
        return _attack(args)
    check_models = args.llm is not None
    args.llm = args.llm or None  # `--llm` alone names no preset
    config = config_of(args)
    checks, sandbox = examined(config, accept_unsandboxed=args.i_accept_unsandboxed, models=check_models)
    ok = all(check.ok for check in checks)
    if args.json:
        print(json.dumps({"ok": ok, "checks": [asdict(c) for c in checks], "sandbox": sandbox}, indent=2))
    else:
        for check in checks:
            print(f"{'ok  ' if check.ok else 'FAIL'} {check.name}: {check.detail}")
            if check.remedy and not check.ok:
                print(f"     {check.remedy}")
    return 0 if ok else 1


def _attack(args: argparse.Namespace) -> int:
    """Known cheats against the user's evaluator; exit 1 if one wins through the proxy."""
    from core.evaluation.isolation.cheats import attack_evaluator
    from problems.evaluator_forms import template_of
    from problems.script.job import write_harness

    told, path = _CheatTable(), Path(args.evaluator).absolute()
    template = template_of(path)
    aim, check = _aim(args, template)
    with scratch_folder("swarm-evo-harness-") as folder:
        program, held = _held_program(path, folder, template)
        options = {"thresholds": [None, None], "cascade": True, "metric": aim.metric, **held}
        harness = write_harness(folder, str(path), options | {"lower_is_better": aim.lower_is_better})
        quiet = (lambda result: None) if args.json else told.row
        attacked = attack_evaluator(path, program, harness=harness, told=quiet, aim=aim, check=check)
    if args.json:
        print(json.dumps(clean_data([asdict(result) for result in attacked.results]), indent=2))
    else:
        print(f"\n{attacked.sentence}")
    return 1 if any(result.wins_through_proxy for result in attacked.results) else 0


def _aim(args: argparse.Namespace, template: Template | None) -> tuple[Aim, Callable[[Any], None]]:
    """What the cheats aim at, and what is said where nobody told which way a score called like an error is better."""
    from core.evaluation.isolation.cheats import Aim
    from problems.metric_direction import ASKED, is_minimised
    from problems.script.reading import error_that_steers

    given = config_of(args).problem
    held = None if template is None or template.lower_is_better is None else template.lower_is_better
    direction = given.direction or (None if held is None else Direction(held).optimum)

    def check(value: Any) -> None:
        metrics = value.get("metrics") if isinstance(value, dict) else None
        name = error_that_steers(metrics, given.metric) if isinstance(metrics, dict) and metrics else ""
        if direction is None and name:
            raise ConfigError(f"--evaluator {args.evaluator}: its score is {name!r}: {ASKED}")

    return Aim(is_minimised(direction, given.metric), given.metric), check


def _held_program(path: Path, folder: Path, template: Template | None) -> tuple[Path | None, dict[str, Any]]:
    """Of an evaluator that holds its program: that, as a file, and what the harness has to know; (None, {}) else."""
    if template is None:
        return None, {}
    if template.wants:
        why = f"{template.wants} is given inputs by who searches, and doctor knows none"
        raise ConfigError(f"--evaluator {path}: {why}")
    if template.kind == "written":
        return None, {"template": template.harness}
    if not template.program.strip():
        raise ConfigError(f"--evaluator {path}: it computes its first program, and doctor runs no script to its search")
    program = folder / "program.py"
    program.write_text(template.program, encoding="utf-8")
    return program, {"template": template.harness}


class _CheatTable:
    """Its head comes with its first row: an evaluator that cannot be attacked has none."""

    def __init__(self) -> None:
        self._begun = False

    def row(self, result: CheatResult) -> None:
        if not self._begun:
            self._begun = True
            print(f"{'cheat':20} {'honest':>10} {'alone':>10} {'in a run':>10}")
        _print_cheat(result)


def _print_cheat(result: CheatResult) -> None:
    """One line as soon as it is known; a score that the cheat made better is marked, with what was done."""
    scores = ((result.unisolated_score, result.wins_unisolated), (result.proxy_score, result.wins_through_proxy))
    cells = [f"{'none' if score is None else f'{score:.4g}':>9}{'!' if won else ' '}" for score, won in scores]
    honest = "none" if result.honest_score is None else f"{result.honest_score:.4g}"
    wins = result.wins_unisolated or result.wins_through_proxy
    print(f"{result.name:20} {honest:>10} {' '.join(cells)}  {result.attempts if wins else ''}".rstrip(), flush=True)
