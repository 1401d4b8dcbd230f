"""`demo`: a recorded run of a real model. Its replies are replayed, every program is executed and scored live."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cli.options import add_unsandboxed_option, project_dir_of
from cli.terminal.view import open_view
from core.backend.recording import open_recording
from runs.search import Recorded
from runs.session import RunSession
from runs.trust import code_named
from utils.config import check_config
from utils.errors import ConfigError

PACKAGED = Path(__file__).resolve().parent / "recording"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("demo", help="a recorded run with a real model, executed again live")
    parser.add_argument(
        "--recording",
        metavar="DIR",
        help="a folder with manifest.json and calls.jsonl (default: the project's own)",
    )
    add_unsandboxed_option(parser)


def check_recorded(config: Mapping[str, Any]) -> None:
    """Raise ConfigError if playing this configuration would execute or read what its author names."""
    named = {key: value for key, value in code_named(config).items() if not key.startswith("llm.")}  # no model is asked
    if named:
        listed = ", ".join(f"{key}={value}" for key, value in named.items())
        raise ConfigError(f"this recording names code of its author's, and only built-in problems are played: {listed}")


def run(args: argparse.Namespace) -> int:
    folder = Path(args.recording) if args.recording else PACKAGED
    if not (folder / "manifest.json").is_file():
        raise ConfigError(f"--recording {folder}: needs a folder with manifest.json and calls.jsonl")
    recording = open_recording(folder)
    print(f"replies by {recording.model}, recorded {recording.date}; every program runs and is scored now")
    if recording.manifest.note:
        print(recording.manifest.note)
    stored = recording.config
    check_recorded(stored)
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
        return session.run()
