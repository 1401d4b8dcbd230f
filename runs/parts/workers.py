"""The sandbox and the workers of a run: on this machine, on a Ray cluster, or on Modal."""

from __future__ import annotations

import glob
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, closing, nullcontext, suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from core.contracts import JobListener, JobRunner, Problem
from core.executor.early import GUESS, EarlyServer
from core.executor.open_files import most_open_files, slots_with_room
from core.executor.probe import CACHE as PROBES
from core.executor.probe import choose
from core.executor.sandbox import open_sandbox
from core.executor.warm import WarmSandbox
from core.executor.writer_view import WriterView
from core.workers.local import LocalJobs
from core.workers.pool import JobPool
from runs.beside.live_output import LiveOutput
from runs.parts.deadline import Deadline
from runs.run_folder import logs_dir
from utils.config_schema import Config
from utils.counts import counted
from utils.errors import NoSandboxError, SwarmEvoError
from utils.logger_system import log_msg
from utils.user_path import user_path


def open_workers(
    config: Config,
    problem: Problem,
    run_dir: Path,
    accept_unsandboxed: bool,
    parts: ExitStack,
    live: LiveOutput | None = None,
    deadline: Deadline | None = None,
    ahead: SandboxAhead | None = None,
) -> tuple[JobPool, str]:
    """(pool of jobs, sandbox tier). What must be closed later is put on `parts`.

    Args:
        ahead: the sandbox of this machine, where its opening has begun already.
        deadline: of the search that the jobs are for; None where there is none.
    """
    execution = config.execution
    sandbox = sandbox_options(config, problem, accept_unsandboxed)
    shown = [problem.shown_folder] if problem.shown_folder else []
    hidden = tuple(map(_pattern, (*problem.hidden_files, *places_of_work(config, shown))))
    sandbox["hide"] += hidden
    boxes: list[Callable[[], None]] = []
    on_job, on_output = (live.work.job, live.tell) if live else (None, None)

    def local() -> tuple[JobRunner, str]:
        later = (*kept_from_all(config), *hidden)
        box = ahead.take(later) if ahead is not None else open_sandbox(**sandbox, state_dir=workspaces_dir(config))
        runner = LocalJobs(
            box,
            slots_of(config, problem, box.cards.places),
            scratch=workspaces_dir(config) / run_dir.name,
            on_output=on_output,
            on_job=on_job,
        )
        boxes.append(box.close)
        return runner, box.tier

    if execution.runner == "ray":
        runner, tier = _ray(config, sandbox, parts, on_job, on_output)
    elif execution.runner == "modal":
        runner, tier = _modal(config, sandbox, parts, on_job, local)
    else:
        runner, tier = local()
    ends = (deadline.seconds_left, deadline.is_ending, deadline.waits_for, lambda: deadline.limit) if deadline else ()
    pool = JobPool(runner, *ends)
    for close in (pool.close, *boxes, pool.abandon):  # a sandbox here closes first: it ends what workers still wait for
        parts.callback(close)
    return pool, tier


def programs_of(problem: Problem) -> int:
    """That one job runs at a time: a game has two engines."""
    return 2 if problem.family == "arena" else 1


def slots_of(config: Config, problem: Problem, places: int = 0) -> int:
    """How many jobs run side by side on this machine: as many as there are workers, where cards and open files suffice.

    Args:
        places: on this machine's cards; 0: no cards are wanted.

    Raises:
        ConfigError: this session may open too few files for one.
    """
    wanted = min(config.search.workers, places or config.search.workers)
    found = slots_with_room(wanted, programs_of(problem))
    if found < wanted:
        told = f"of {counted(wanted, 'worker')} {found} run side by side: ulimit -n is {most_open_files()}"
        log_msg("WARNING", f"{told}, and each needs open files")
    return found


def sandbox_options(config: Config, problem: Problem, accept_unsandboxed: bool) -> dict[str, Any]:
    """What `open_sandbox` is told, but for files that are known only when the problem's data are ready."""
    execution = config.execution
    return {
        "choice": execution.sandbox,
        "preload": tuple(execution.preload if execution.preload is not None else problem.preload),
        "python": execution.python,
        "gpus": execution.gpus,
        "paths": execution.paths,
        "hide": (*problem.hidden_data, *kept_from_all(config)),
        "accept_unsandboxed": accept_unsandboxed,
    }


class SandboxAhead:
    """Opens this machine's sandbox in a thread, while the data of the problem are made ready.

    Which tier holds is asked, and what programs import is imported; nothing runs in it before `take`.

    Args:
        early: a server that was started on a guess before the configuration was read; it is ended if nobody wants it.
    """

    def __init__(
        self, config: Config, problem: Problem, accept_unsandboxed: bool, early: EarlyServer | None = None
    ) -> None:
        self._state_dir = workspaces_dir(config)
        self._was_there = self._state_dir.exists()
        options = sandbox_options(config, problem, accept_unsandboxed)
        self._early = early
        self._opening: Future[WarmSandbox] = Future()
        self._taken = False
        thread = threading.Thread(target=self._open, args=(options,), name="sandbox", daemon=True)
        thread.start()

    def take(self, hide: Sequence[str]) -> WarmSandbox:
        """The sandbox, which is the caller's from now on. Raises what `open_sandbox` raises.

        Args:
            hide: patterns of absolute paths: what has come to lie there meanwhile is hidden, too.
        """
        box = self._opening.result()
        self._taken = True
        box.hide(hide)
        return box

    def close(self) -> None:
        """Where nobody took it, nothing is left of it."""
        if self._taken:
            return
        with suppress(Exception):  # that it could not be opened is told to who takes it
            self._opening.result().close()
        if not self._was_there:
            with suppress(OSError):  # the data of the problem are kept
                for name in (PROBES, GUESS):
                    (self._state_dir / name).unlink(missing_ok=True)
                self._state_dir.rmdir()

    def _open(self, options: dict[str, Any]) -> None:
        try:
            with closing(self._early) if self._early is not None else nullcontext():
                box = open_sandbox(**options, state_dir=self._state_dir, early=self._early)
            self._opening.set_result(box)
        except BaseException as error:  # noqa: BLE001 - raised to who takes it
            self._opening.set_exception(error)


def writer_view(
    config: Config, parts: ExitStack, hide: Sequence[str] = (), accept_unsandboxed: bool = False
) -> WriterView:
    """Where commands that write programs run: on this machine, whatever the workers are.

    Args:
        hide: data of installed packages in which answers lie; runs and workspaces of the project are hidden besides.

    Raises:
        NoSandboxError: no tier holds here, or none is wanted and the user's flag is missing.
    """
    choice = config.execution.sandbox
    if choice == "none" and not accept_unsandboxed:
        raise NoSandboxError("execution.sandbox=none runs programs unprotected; add --i-accept-unsandboxed to mean it")
    if choice == "none":
        log_msg("WARNING", "execution.sandbox=none: llm.*.command can read, write and start whatever you can")
    tier = "none" if choice == "none" else choose(choice, python=None, gpus=0, state_dir=workspaces_dir(config))
    ours = [*kept_from_all(config), _pattern(workspaces_dir(config))]
    view = WriterView(tier, [*hide, *ours], places_of_work(config))
    parts.callback(view.close)
    return view


def proof_of(config: Config, tier: str) -> list[dict[str, Any]]:
    """What the sandbox's tier withstood just now: `{"name", "ok", "detail"}`; [] without a tier on this machine."""
    from core.executor.probe import examine
    from core.executor.tiers import TIERS

    execution = config.execution
    if execution.runner == "ray" or tier not in TIERS:
        return []
    found = examine(tier, python=execution.python, gpus=execution.gpus, state_dir=workspaces_dir(config))
    proof: list[dict[str, Any]] = found["probes"]
    return proof


def _ray(
    config: Config,
    sandbox: dict[str, Any],
    parts: ExitStack,
    on_job: JobListener | None,
    on_output: Callable[[str, str], None] | None,
) -> tuple[JobRunner, str]:
    from core.workers.ray import RayCluster
    from core.workers.remote import RemoteJobs

    cluster = RayCluster(_said(config.execution.ray), sandbox, gpus=config.execution.gpus)
    parts.callback(cluster.close)
    tier = cluster.tier()
    return RemoteJobs(cluster.open_worker, config.search.workers, on_job, on_output), tier


def _said(section: BaseModel | None) -> dict[str, Any]:
    """What the user set of a runner's options."""
    return section.model_dump(exclude_none=True) if section else {}


def _modal(
    config: Config,
    sandbox: dict[str, Any],
    parts: ExitStack,
    on_job: JobListener | None,
    local: Callable[[], tuple[JobRunner, str]],
) -> tuple[JobRunner, str]:
    """Modal, or this machine at its first error; a missing SDK is one. The local tier must hold: scores go by it."""
    from core.workers.fallback import FallbackJobs
    from core.workers.modal import ModalCloud
    from core.workers.remote import RemoteJobs

    here, tier = local()
    try:
        cloud = ModalCloud(_said(config.execution.modal), sandbox)
    except Exception as error:  # noqa: BLE001 - the SDK is not installed, or whatever it raises
        why = str(error) if isinstance(error, SwarmEvoError) else f"{type(error).__name__}: {error}"
        log_msg("WARNING", f"Modal cannot be used ({why}); going on on this machine")
        return here, tier
    parts.callback(cloud.close)
    remote = RemoteJobs(cloud.open_worker, min(config.search.workers, cloud.slots), on_job)
    return FallbackJobs(remote, lambda: here, lambda text: log_msg("WARNING", text)), tier


def kept_from_all(config: Config) -> tuple[str, ...]:
    """Patterns of what nobody sees where a project lies in a shown folder, below /usr for one: runs and labels."""
    return _pattern(logs_dir(config.project.dir)), f"{_pattern(workspaces_dir(config))}/.prepared/*/private"


def places_of_work(config: Config, shown: Sequence[Path] = ()) -> list[Path]:
    """The project's folder and those that the configuration names, or what lies in them beside working folders of ours.

    Nobody sees them where they lie in what is shown: below /usr (`/usr/src/app`), or in a virtual environment that was
    made in them. What such an environment itself is made of stays.

    Args:
        shown: what of them programs see, too.
    """
    data, section = config.data, config.problem
    named = [data.dir, data.train, data.test, data.labels, section.path, section.program, section.evaluator]
    named += (section.source or "").split(",")
    paths = [user_path(name.strip()).resolve() for name in named if name and name.strip()]
    folders = {Path(config.project.dir).resolve(), *(path if path.is_dir() else path.parent for path in paths)}
    folders = {folder for folder in folders if not _is_system(folder)}
    outer = sorted(folder for folder in folders if not folders.intersection(folder.parents))
    kept = [workspaces_dir(config), *(path.resolve() for path in shown)]
    return [part for folder in outer for part in _around(folder, kept)]


def _is_system(folder: Path) -> bool:
    """True for a place of programs and packages, which is nobody's project."""
    is_prefix = all((folder / name).is_dir() for name in ("bin", "lib")) and not (folder / "pyvenv.cfg").is_file()
    return is_prefix or bool({"site-packages", "dist-packages"} & {*folder.parts})


def _around(folder: Path, kept: Sequence[Path]) -> Iterator[Path]:
    """The folder, or what lies in it beside what is kept."""
    if not any(path.is_relative_to(folder) for path in kept):
        yield folder
    elif folder.is_dir() and folder not in kept:
        for child in sorted(folder.iterdir()):
            yield from () if child.is_symlink() else _around(child, kept)


def _pattern(path: Path) -> str:
    return glob.escape(str(path.resolve()))


def workspaces_dir(config: Config) -> Path:
    return Path(config.project.dir).resolve() / "workspaces"
