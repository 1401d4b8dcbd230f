"""From a supervisor's report to an ExecutionResult."""

from __future__ import annotations

import os
import signal

from core.contracts import ExecutionResult, Limits
from core.executor import verdict
from core.executor.inside.messages import Report
from core.executor.output import Output
from utils.errors import SandboxError


def result_of(
    report: Report, raised: verdict.Raised | None, output: Output, limits: Limits, tier: str
) -> ExecutionResult:
    status, breach = report.status, report.breach
    if status is not None and os.WIFEXITED(status) and not report.began:
        raise SandboxError(output.text().strip()[-500:] or "the sandbox could not be set up")
    if tier == "bubblewrap" and status is not None:
        status = _of_the_program(status)
    failure, message = verdict.judge(status, None if breach is None else (breach[0], breach[1]), raised, limits)
    told = raised if failure is not None and breach is None else None
    return ExecutionResult(
        term_out=output.text(), exec_time=report.seconds, cpu_seconds=report.cpu,
        max_memory_mb=report.memory / 2**20, exit_code=verdict.exit_code(status), failure=failure,
        message=message, exc_type=told.type if told else None, exc_info=told.info() if told else None,
        overlaid=tuple(report.overlaid), tier=tier,
    )  # fmt: skip


def _of_the_program(status: int) -> int:
    """bwrap itself ends with 128 + n where its program was ended by signal n."""
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0
    return code - 128 if 128 < code <= 128 + signal.SIGRTMAX else status
