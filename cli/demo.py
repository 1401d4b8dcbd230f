"""`demo`: a recorded run of a real model. Its replies are replayed, every program is executed and scored live."""

from __future__ import annotations

import argparse
from pathlib import Path

from cli.composition import Recorded
from cli.options import project_dir_of
from cli.session import RunSession
from core.backend.recording import load_calls, load_manifest
from utils.config import check_config
from utils.errors import ConfigError

PACKAGED = Path(__file__).resolve().parent.parent / "examples" / "recording"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("demo", help="a recorded run with a real model, executed again live")
    parser.add_argument("--recording", metavar="DIR", help="a folder with manifest.json and calls.jsonl")
    parser.add_argument("--i-accept-unsandboxed", action="store_true", help="needed with execution.sandbox=none")


def run(args: argparse.Namespace) -> int:
    folder = Path(args.recording) if args.recording else PACKAGED
    if not (folder / "manifest.json").is_file():
        where = f"--recording {folder}" if args.recording else "no recording comes with this copy; --recording DIR"
        raise ConfigError(f"{where}: needs a folder with manifest.json and calls.jsonl")
    manifest = load_manifest(folder)
    models = ", ".join(manifest.models)
    print(f"replies by {models}, recorded {manifest.recorded_at}; every program runs and is scored now")
    config = check_config(
        {**manifest.config, "project": {**manifest.config.get("project", {}), "dir": project_dir_of(args)}}
    )
    with RunSession(
        config,
        accept_unsandboxed=args.i_accept_unsandboxed,
        origin={"demo": folder.name, "models": models, "date": manifest.recorded_at},
        recorded=Recorded(load_calls(folder), "sample"),
    ) as session:
        return session.run()
