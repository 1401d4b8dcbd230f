"""How one process's work on a run ends: what the store is told of it, and what is removed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from core.events import Event, RunFinished
from core.state.node import Node
from core.storage.held import WAITING
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from core.storage.rows import BROKE_OFF, JOURNAL
from runs.beside.reserve import release
from runs.recorded.files import record_files
from runs.search import Search
from utils.errors import Interrupted, LockedStoreError, SwarmEvoError
from utils.logger_system import log_msg
from utils.scratch_folders import sweep


def record_end(search: Search, status: Literal["finished", "interrupted"], reason: str, best: Node | None) -> None:
    """The run ended by a limit, or was stopped in good order."""
    journal = search.journal
    facts: dict[str, Any] = {"status": status}
    if status == "finished" or journal.is_digested:  # whoever stops does not wait until a long journal is read
        facts |= {JOURNAL: {"nodes": len(journal), "sha256": journal.sha256}}
    _put_end(search.store, facts, [_ended(search, status, reason, best)])


def _put_end(store: RunStore, facts: Mapping[str, Any], events: Sequence[Event]) -> None:
    """At once: a run that is killed has ended with its reason, or has not ended."""
    store.put_facts(facts, events, kind="end")


def _ended(
    search: Search, status: Literal["finished", "interrupted", "failed"], reason: str, best: Node | None
) -> RunFinished:
    return RunFinished(
        status=status,
        reason=reason,
        best_node_id=best.id if best else None,
        best_metric=best.metric_value if best else None,
        steps=search.journal.steps,
    )


def stays_ended(store: RunStore) -> None:
    """Somebody looked into a run that had ended, by steps that made no node: its end is its end still."""
    with RunReader(store.run_dir) as reader:
        ends = [event for event in reader.events(types=["run.finished"]) if isinstance(event, RunFinished)]
    last = [end.model_copy(update={"seq": 0}) for end in ends if end.status == "finished"][-1:]
    _put_end(store, {"status": "finished"}, last)
    record_files(store)


def left_as_it_was(store: RunStore, before: Mapping[str, Any], error: BaseException | None) -> bool:
    """After a step that added no node: leave a run that had ended ended, whatever broke, and any other as it was where
    the words of the step were refused. False where that is not to be, or cannot be stored.

    Args:
        before: `status` and BROKE_OFF as the process found them.
    """
    refused = isinstance(error, SwarmEvoError) and error.exit_code == 2
    with suppress(SwarmEvoError, OSError):
        if before["status"] == "finished":
            stays_ended(store)
            return True
        if refused and before["status"] in ("interrupted", "failed", WAITING):
            store.put_facts(before)
            return True
    return False


def record_failure(
    search: Search, leader: Callable[[], Node | None], error: BaseException | None, active_seconds: float
) -> None:
    """The run stays resumable; the store says why it stopped, on a full disk too: it may have room for the fact where
    it has none for the event, and has it once what was reserved is given back.

    Args:
        leader: → who leads now; asked while the store may be what broke.
    """
    store, text, by_user = search.store, in_words(error), is_by_user(error)
    facts = {"active_seconds": round(active_seconds, 3), "status": "interrupted" if by_user else "failed"}
    facts |= {} if by_user else {BROKE_OFF: text}
    if not _put_last(store, facts):
        log_msg("ERROR", "the store could not be told of the failure")
    elif not by_user and isinstance(error, Exception):
        with suppress(Exception):  # a store without room for it, or a sink that still cannot hear
            store.append([_ended(search, "failed", text, leader())])
    log_msg(*(("INFO", "stopped at once by the user") if by_user else ("ERROR", text)))


def _put_last(store: RunStore, facts: Mapping[str, Any]) -> bool:
    """Store the last facts of a process, whatever has to make room for them; False where nothing helps."""
    rooms: list[Callable[[], None]] = [store.forget_waiting, lambda: release(store.run_dir)]
    while True:
        try:
            store.put_facts(facts)
        except LockedStoreError:  # room is not what lacks; what waits would be tried, and waited for, at the close
            store.forget_waiting()
            return False
        except SwarmEvoError:
            if not rooms:
                return False
            rooms.pop()()
        except Exception:  # noqa: BLE001 - a sink's: it is stored
            return True
        else:
            return True


def is_refusal(search: Search, error: BaseException | None) -> bool:
    """True where a run was refused before its first step, and nothing was paid: what is wrong is what was given."""
    wrong = isinstance(error, SwarmEvoError) and error.exit_code == 2
    return wrong and not search.journal.steps and not search.model_client.ledger.spent.tokens


def is_by_user(error: BaseException | None) -> bool:
    """True where nothing broke: somebody wanted the end at once."""
    return isinstance(error, KeyboardInterrupt | Interrupted)


def in_words(error: BaseException | None) -> str:
    """What broke, for people: our own errors say it themselves."""
    return str(error) if isinstance(error, SwarmEvoError) else f"{type(error).__name__}: {error}"


def remove_run(run_dir: Path) -> None:
    """The folder of a run that never was one, and the links to it."""
    shutil.rmtree(run_dir, ignore_errors=True)
    for name in ("system.log", "metrics.json"):
        link = run_dir.parent / name
        if link.is_symlink() and not link.exists():
            link.unlink()


def clear_workspaces(work_dir: Path) -> None:
    """What this process and killed ones before it left behind: nobody else works on the run."""
    from core.executor.workspace import remove_tree

    try:
        remove_tree(work_dir)
    except OSError as error:
        log_msg("WARNING", f"workspaces: {error}")


def sweep_scratch() -> None:
    """Remove temporary folders of processes that were killed."""
    from core.executor.workspace import remove_tree

    sweep(remove_tree)
