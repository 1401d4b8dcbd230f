"""`demo`: a recorded run of a real model. Its replies are replayed, every program is executed and scored live."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from cli.options import add_trust_option, add_unsandboxed_option, project_dir_of
from cli.terminal.view import open_view
from core.backend.recording import Recording, open_recording
from core.evaluation.repeats import is_same_look
from core.state.journal import Journal
from runs.search import Recorded
from runs.session import RunSession
from runs.stored.named_files import how_to_give
from runs.stored.trust import FLAG, code_named
from utils.config import check_config, merge_overrides
from utils.errors import ConfigError

PACKAGED = Path(__file__).resolve().parent / "recording"
"""Recordings that come with the project: a folder each, with the problem's own files where it has some."""
DEFAULT = "circle_packing"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("demo", help="a recorded run with a real model, executed again live")
    parser.add_argument(
        "--recording",
        metavar="DIR",
        default=DEFAULT,
        help=f"a folder with manifest.json and calls.jsonl, or one of the project's own: {', '.join(packaged())} "
        f"(default: {DEFAULT})",
    )
    add_trust_option(parser)
    add_unsandboxed_option(parser)


def packaged() -> list[str]:
    """Names of the project's own recordings."""
    return sorted(path.parent.name for path in PACKAGED.glob("*/manifest.json"))


def check_recorded(config: Mapping[str, Any], given: Collection[str] = ()) -> None:
    """Raise ConfigError if playing this configuration would execute or read what its author names.

    Args:
        given: keys that the user's own words give.
    """
    named = {
        key: value
        for key, value in code_named(config).items()
        if not key.startswith("llm.") and key not in given  # no model is asked
    }
    if named:
        listed = ", ".join(f"{key}={value}" for key, value in named.items())
        raise ConfigError(
            f"this recording names code of its author's, which would run with your rights: {listed}; look at it first, "
            f"then add {FLAG}"
        )


def run(args: argparse.Namespace) -> int:
    own = args.recording in packaged()
    folder = PACKAGED / args.recording if own else Path(args.recording)
    if not (folder / "manifest.json").is_file():
        known = ", ".join(packaged())
        raise ConfigError(f"--recording {folder}: needs a folder with manifest.json and calls.jsonl, or one of {known}")
    recording = open_recording(folder)
    print(f"replies by {recording.model}, recorded {recording.date}; every program runs and is scored now")
    if recording.manifest.note:
        print(recording.manifest.note)
    words = [word for word in args.overrides if not word.startswith("project.dir=")]
    stored = merge_overrides(_placed(recording.config, folder) if own else recording.config, words)
    if not own and not args.i_trust_this_run:
        check_recorded(stored, [word.partition("=")[0] for word in words])
    if missing := how_to_give(stored, f"demo --recording {shlex.quote(str(args.recording))}"):
        raise ConfigError(f"this recording names files and does not hold them: {missing}")
    if "repair_crashes" not in stored.get("agent", {}):  # recorded before there were repairs in the same step
        stored = {**stored, "agent": {**stored.get("agent", {}), "repair_crashes": False}}
    config = check_config({**stored, "project": {**stored.get("project", {}), "dir": project_dir_of(args)}})
    with RunSession(
        config,
        view=open_view(config.logging.view),
        accept_unsandboxed=args.i_accept_unsandboxed,
        origin={"demo": folder.name, "models": recording.model, "date": recording.manifest.recorded_at},
        recorded=Recorded(list(recording.calls), "sample"),
    ) as session:
        code = session.run()
        print(where_it_left(recording, session.search.journal))
    return code


def _placed(config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The configuration with the problem's own files where this copy of the project has them."""
    problem = config["problem"]
    path = problem.get("path")
    return {**config, "problem": {**problem, "path": str(folder / path)}} if path else config


def where_it_left(recording: Recording, journal: Journal) -> str:
    """The first score that is not the recorded one, in a sentence. From there on, prompts and parents may differ."""
    scores = recording.manifest.scores
    for node in journal:
        if node.id not in scores:
            continue
        before, now = scores[node.id], node.metric_value
        same = before is now if before is None or now is None else is_same_look(before, now)
        if not same:
            was, is_ = ("no score" if value is None else f"{value:.6g}" for value in (before, now))
            return f"record: left at {node.id}: {is_} now, {was} when it was recorded; played on from there"
    compared = sum(node.id in scores for node in journal)
    if compared == 1:
        return "record: the one score is the recorded one"
    return f"record: all {compared} scores are those that were recorded" if compared else "record: it holds no scores"
