"""The first nodes of a run: the user's own programs, and the baselines where they are parents of the first round."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node
from reports.winner import OWN
from runs.beginning.unreachable_paths import out_of_reach
from runs.search import Search
from utils.clean_text import one_line
from utils.config_problem import ProblemConfig
from utils.errors import ConfigError
from utils.logger_system import log_msg
from utils.packages import missing_module
from utils.user_text import user_text

NO_VERDICT = (FailureKind.EVAL_ERROR, FailureKind.NON_FINITE)
"""Failures that say that what scores gave no number, whatever the program did."""
TOO_SLOW = (FailureKind.TIMEOUT, FailureKind.CPU)

_UNTOLD = re.compile(r"the command told no `(.{1,80})`; it told no metric at all")


def score_seeds(search: Search, programs: Sequence[tuple[str, str]]) -> None:
    """Score them, those of `initial` and `programs`, (name, code) pairs; what is in the journal stays.

    Raises:
        ConfigError: what scores cannot judge a single one of them.
        NoSandboxError: the self-test found hidden answers where programs run.
    """
    if search.self_test is not None:
        search.self_test.wait()
    problem, orchestrator = search.problem, search.orchestrator
    if problem.seeds_search:
        baselines = problem.baselines()
        orchestrator.seed_with([(b.name, b.code) for b in baselines], "baseline", [b.name for b in baselines if b.own])
    own = [(Path(path).name, user_text(path, "initial=")) for path in search.config.initial]
    orchestrator.seed_with([*own, *programs], "user")
    if not search.journal.steps:
        _check(search.journal, search.config.problem)


def _check(journal: Journal, section: ProblemConfig) -> None:
    """What cannot judge the user's own program can judge no other: no model is paid for that."""
    given = [node for node in journal if node.operator in ("baseline", "user")]
    failed = [node for node in given if node.failure is not None]
    if not failed or any(node.is_scored for node in given):
        return
    broken = next((node for node in failed if node.failure in NO_VERDICT), None)
    if broken is not None:
        why = f"{broken.message}{_said(broken)}{_remedy(broken, section)}"
        raise ConfigError(f"{_named(broken)}, the first program, cannot be scored: {why}; nothing was searched")
    remedy = _remedy(failed[0], section)
    log_msg("WARNING", f"no program that was given could be scored: the search has no score to begin with{remedy}")


def _said(node: Node) -> str:
    """The last line of what was printed, unless the message has it: the run is not kept to look it up."""
    last = next((line for line in reversed(node.term_out.splitlines()) if line.strip()), "")
    told = one_line(last)
    return f" (the last that it printed: {told!r})" if told and told not in node.message else ""


def _remedy(node: Node, section: ProblemConfig) -> str:
    """What is to be done where the commonest reasons are it, whose keys are none that one would guess: a package that
    only another interpreter has, a file above the folder, a number that is printed in another form than ours, and time
    that large instances take."""
    if untold := _UNTOLD.search(node.message):
        form = "`--problem.metric_from='regex:PATTERN'` with one group says where the number stands"
        return f"; let it print `{untold[1]}: NUMBER`, or {form}"
    if node.failure in TOO_SLOW:
        return "; --execution.timeout=SECONDS gives each program more"
    told = f"{node.term_out}\n{node.message}"
    if above := out_of_reach(section, told):
        return above
    missing = missing_module(told)
    return f"; --execution.python=FILE names an interpreter that has '{missing}'" if missing else ""


def _named(node: Node) -> str:
    return OWN if node.is_own else f"'{node.plan}'"
