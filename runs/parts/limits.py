"""What a program's run may use: as the configuration says it, and as prompts tell it."""

from __future__ import annotations

from collections.abc import Sequence

from core.contracts import Limits, Problem
from core.executor.devices import Cards
from utils.config_schema import Config
from utils.counts import counted


def limits_of(config: Config) -> Limits:
    """Of one run, a call or a game."""
    execution = config.execution
    return Limits(
        seconds=execution.timeout,
        cpu_seconds=execution.cpu_seconds,
        memory_mb=execution.memory_mb,
        processes=execution.processes,
        file_mb=execution.file_mb,
        disk_mb=execution.disk_mb,
        output_kb=execution.output_kb,
        threads=execution.threads,
    )


def models_of(config: Config) -> list[str]:
    """What this machine's GPUs are called that programs use; [] where they run elsewhere."""
    return Cards(config.execution.gpus).models() if config.execution.runner == "local" else []


def told_limits(problem: Problem, limits: Limits, gpus: float, models: Sequence[str] = ()) -> str:
    """A line each; what passes a limit scores nothing.

    Args:
        models: what the GPUs are called.
    """
    threads = counted(limits.threads, "thread")
    cards = (
        f"{gpus:g} GPUs" if gpus > 1 else "1 GPU" if gpus == 1 else "a GPU that others use too" if gpus else "no GPU"
    )
    cards += f" ({' or '.join(models)})" if models else ""
    lines = [
        *problem.limits(limits),
        f"wall clock {limits.seconds:g} s a run or call; what still runs then is stopped and scores nothing",
        f"memory {limits.memory_mb:,} MB, disk {limits.disk_mb:,} MB, {threads} of BLAS and OpenMP",
        f"{cards}, no network",
        "a fixed amount of work is better than a clock: the machine may be slower when the program is run again",
    ]
    return "\n".join(f"- {line}" for line in lines)
