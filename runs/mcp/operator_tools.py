"""The operator's tools: plan, start, stop and resume runs, leave a note, take the best program home."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from core.storage.held import LOCK, is_held, lock_holder
from dashboard.server.control import note_heard, send_line, stop_gracefully
from runs.mcp.language import ARGUMENTS, spoken
from runs.mcp.plans import Plan
from runs.mcp.reading_tools import has_proposal, status
from runs.run_folder import check_own, find_run
from utils.apart import let_go, start_apart
from utils.clean_text import one_line
from utils.counts import counted
from utils.errors import ConfigError, SwarmEvoError
from utils.mcp_protocol import Call
from utils.secrets import MASK, masked

MAIN = Path(__file__).resolve().parents[2] / "main.py"
IDLE = 1800
"""Seconds after which a run without its external writer's calls ends its process; the next call takes it up again."""
SETTLES = 10.0
"""Seconds that a started run has to find out how it can score: what is wrong with that is a warning of its start."""
LONGEST = 20.0
"""Seconds of one call."""
LONGEST_WORD = 120_000
"""Characters of a setting as JSON: Linux hands over no word of 128 KiB."""
UNSAID = "direction: max (the score grows); say direction=min if less is better"
"""Which way the score of somebody's own evaluator is read, where nobody said."""
Answer = dict[str, Any]


def plan_run(project_dir: str, arguments: Answer, call: Call) -> Answer:
    """What the run would be, and the name under which it is started."""
    words = [*_words(arguments), f"project.dir={Path(project_dir).resolve()}"]
    plan = json.loads(_planned(words))
    confirm = Plan.new(_plans(project_dir), words).name
    is_unsaid = plan["metric"]["direction"] == "max" and _has_no_direction(arguments)
    warnings = [*map(spoken, plan.pop("warnings"))] + ([UNSAID] if is_unsaid and arguments.get("evaluator") else [])
    return {"plan": plan, "warnings": warnings, "confirm": confirm, "next": "start_run"}


def _has_no_direction(arguments: Answer) -> bool:
    return not arguments.get("direction") and "problem.direction" not in (arguments.get("settings") or {})


def _words(arguments: Answer) -> list[str]:
    """The words of `run` for what a client asked for."""
    words = []
    problem = arguments.get("problem") or ("script" if arguments.get("program") else None)
    if problem:
        words.append(f"--problem={problem}")
    elif not arguments.get("data"):
        raise ConfigError("say what is searched: problem, or program and evaluator, or data and target")
    if bool(arguments.get("program")) != bool(arguments.get("evaluator")):
        raise ConfigError("program and evaluator go together: a file to change, and one with evaluate(program_path)")
    for name, key in _KEYS.items():
        if arguments.get(name) is not None:
            words.append(f"{key}={_literal(_existing(name, arguments[name]) if name in _FILES else arguments[name])}")
    settings = arguments.get("settings") or {}
    own = next((key for key in settings if key in _ARGUMENTS), None)
    if own is not None:
        raise ConfigError(f"settings: '{own}' is an argument of plan_run itself: {own}={json.dumps(settings[own])}")
    if wrong := next((key for key in settings if "=" in key or not key.isprintable()), None):
        raise ConfigError(f"settings: '{one_line(wrong, 80)}' is no key; its value stands beside it")
    words += [f"{key}={json.dumps(_without_expressions(key, value))}" for key, value in settings.items()]
    if long := next((word for word in words if len(word) > LONGEST_WORD), None):
        key = long.partition("=")[0][:80]
        raise ConfigError(
            f"{key}: {counted(len(long), 'character')}; allowed: at most {LONGEST_WORD}, more in a YAML file"
        )
    return [*words, f"--llm={arguments.get('writer') or 'external'}"]


_EXPRESSION = re.compile(r"(\\*)\$\{")
"""Where an expression begins, and the backslashes before it, each of which is written twice there."""


def _literal(value: Any) -> str:
    """A value as it stands: an expression for what the environment holds is text like any other."""
    return _EXPRESSION.sub(lambda found: f"{found[1]}{found[1]}\\${{", str(value))


def _without_expressions(key: str, value: Any) -> Any:
    """A setting's value. Only a secret may be named by its variable: elsewhere a prompt would show what is in it.

    Raises:
        ConfigError: a secret itself: it would stand in the plan's file, on command lines, in the client's own record.
    """
    path = tuple(key.split("."))
    if isinstance(value, dict):
        return {name: _without_expressions(f"{key}.{name}", item) for name, item in value.items()}
    if isinstance(value, list):
        return [_without_expressions(key, item) for item in value]
    if not isinstance(value, str) or masked("x", path) != MASK:
        return _literal(value) if isinstance(value, str) else value
    if masked("x", path[-1:]) == MASK and not value.startswith("${env:"):
        raise ConfigError(f"settings: {key}: name the variable that holds it, ${{env:NAME}}, and not the secret itself")
    return value


def _existing(name: str, value: Any) -> Path:
    """Where a file or folder lies, seen from the client's folder."""
    path = Path(str(value)).resolve()
    if not path.exists():
        raise ConfigError(f"{name}={value}: there is nothing at {path}")
    return path


_MORE = ("steps", "seconds", "usd")
_FILES = ("program", "evaluator", "data")
_ARGUMENTS = {"problem", "writer", *ARGUMENTS.values()}
_KEYS = {argument: key for key, argument in ARGUMENTS.items()}


def start_run(project_dir: str, arguments: Answer, call: Call) -> Answer:
    """Start it once, and wait until it can be asked."""
    plan = Plan.of(_plans(project_dir), str(arguments["confirm"]))
    with plan.held() as words:
        if words:
            with plan.begun() as log:
                _start(["run", *words, "--json", f"--idle={IDLE}", f"--ready={plan.ready}"], log)
    until = time.monotonic() + LONGEST
    while (is_under_way := plan.is_under_way) and not plan.run and time.monotonic() < until:
        call.progress("the run is being prepared")
        time.sleep(0.1 if until - time.monotonic() > LONGEST - 2 else 1.0)
    if plan.run:
        settled = min(until, time.monotonic() + SETTLES)
        while not has_proposal(project_dir, plan.run) and is_held(find_run(project_dir, plan.run)):
            if time.monotonic() >= settled:
                break
            call.progress("the program that it starts from is scored")
            time.sleep(0.1)
        return {"state": "started", **status(project_dir, {"run": plan.run})}
    said = _last_line(plan.log.read_text(errors="replace"))
    if not is_under_way:
        raise SwarmEvoError(said)
    return {"state": "starting", "run": None, "message": spoken(said), "next": "start_run"}


def stop_run(project_dir: str, arguments: Answer, call: Call) -> Answer:
    """Ask the process that holds the run to end in good order."""
    run_dir = find_run(project_dir, str(arguments.get("run") or "latest"))
    if (owner := lock_holder(run_dir / LOCK)) is not None:
        stop_gracefully(run_dir, owner)
    until = time.monotonic() + LONGEST
    while is_held(run_dir) and time.monotonic() < until:
        call.progress("what is in flight is finished")
        time.sleep(0.2)
    state, following = ("stopping", "status") if is_held(run_dir) else ("stopped", "export_best")
    return {**status(project_dir, {"run": run_dir.name}), "state": state, "next": following}


def resume_run(project_dir: str, arguments: Answer, call: Call) -> Answer:
    """A process that takes the run up again; none where nothing would come of it."""
    run_dir = find_run(project_dir, str(arguments.get("run") or "latest"))
    child, log = None, run_dir / "tickets.log"
    more = [f"{_KEYS[name]}={arguments[name]}" for name in _MORE if name in arguments]
    until = time.monotonic() + LONGEST
    found = status(project_dir, {"run": run_dir.name})
    while found["status"] == "finished" and more and is_held(run_dir) and time.monotonic() < until:
        call.progress("the run's last process ends")
        time.sleep(0.2)
    if is_held(run_dir) and more:
        raise ConfigError(f"run {run_dir.name}: it is being worked on, and keeps its limits until stop_run or its end")
    if found["status"] == "finished" and not more:
        after = counted(found["steps"], "step")
        wants = f"it has ended, after {after}: give resume_run more than that, or more seconds or usd"
        return {**found, "state": "finished", "message": wants}
    if not is_held(run_dir):
        words = ["resume", run_dir.name, *more, f"project.dir={Path(project_dir).resolve()}", f"--idle={IDLE}"]
        check_own(run_dir)
        with log.open("wb") as file:
            child = _start(words, file)
    while (found := status(project_dir, {"run": run_dir.name}))["status"] != "running" and time.monotonic() < until:
        if child is None or child.poll() is not None:
            break
        call.progress("the run is taken up")
        time.sleep(0.2)
    if child is not None and child.poll():
        raise SwarmEvoError(_last_line(log.read_text(errors="replace")))
    return {**found, "state": found["status"]}


def note(project_dir: str, arguments: Answer, call: Call) -> Answer:
    """The next round's prompts hold it."""
    run_dir = find_run(project_dir, str(arguments.get("run") or "latest"))
    if not is_held(run_dir):
        raise ConfigError(f"run {run_dir.name}: nobody works on it; resume_run first")
    send_line(run_dir, {"kind": "note", "text": str(arguments["text"])})
    return {"state": "noted", "run": run_dir.name, "detail": note_heard(run_dir), "next": "status"}


def export_best(project_dir: str, arguments: Answer, call: Call) -> Answer:
    """Write the winner; says what it is worth."""
    run_dir = find_run(project_dir, str(arguments.get("run") or "latest"))
    out = [f"--out={Path(str(arguments['dir'])).resolve()}"] if arguments.get("dir") else []
    done = _main(["export-best", run_dir.name, "--json", *out, f"project.dir={Path(project_dir).resolve()}"])
    if done.returncode:
        raise ConfigError(_last_line(done.stderr))
    found = json.loads(done.stdout)
    about = status(project_dir, {"run": run_dir.name})
    best = about["best"] or {}
    shown = {name: about[name] for name in ("run", "status", "verdict", "warnings")}
    sources = {name: best.get(name) for name in ("node_id", "metric", "metric_source", "final_metric")}
    return {**shown, **sources, "files": found["files"], "remarks": found["remarks"], "next": "status"}


# ------------------------------------------------------------ the command line as a child process


def _plans(project_dir: str) -> Path:
    return Path(project_dir).resolve() / "workspaces" / ".plans"


def _main(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [sys.executable, str(MAIN), *words],
            capture_output=True, text=True, timeout=LONGEST + 4, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise SwarmEvoError(
            f"{words[0]} took over {LONGEST:g} s; call it again, or let the user run it on the command line"
        ) from error


def _planned(words: Sequence[str]) -> str:
    """What `run --plan` prints. One that takes longer than a call may goes on making the data ready for the next."""
    child = subprocess.Popen(
        [sys.executable, str(MAIN), "run", "--plan", *words],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        out, err = child.communicate(timeout=LONGEST + 4)
    except subprocess.TimeoutExpired as error:
        let_go(child)
        raise SwarmEvoError("the data are still being made ready; call plan_run again in a minute") from error
    if child.returncode:
        raise ConfigError(_last_line(err))
    return out


def _start(words: Sequence[str], log: IO[bytes]) -> subprocess.Popen[bytes]:
    return start_apart([sys.executable, str(MAIN), *words], log)


def _last_line(text: str) -> str:
    with suppress(IndexError):
        return text.strip().splitlines()[-1].removeprefix("swarm-evo: ")
    return "no reason was given"
