"""FailureKind: the ways in which a candidate can fail, as data on its node."""

from __future__ import annotations

from enum import StrEnum


class FailureKind(StrEnum):
    """Why a candidate has no usable score. The value is what is stored, shown and fed back to prompts."""

    SYNTAX = "syntax"
    IMPORT_BLOCKED = "import_blocked"
    SIGNATURE = "signature"
    RUNTIME = "runtime"
    EXIT = "exit"
    SIGNAL = "signal"
    TIMEOUT = "timeout"
    CPU = "cpu"
    MEMORY = "memory"
    PROCESSES = "processes"
    DISK = "disk"
    FILE_SIZE = "file_size"
    OUTPUT = "output"
    NO_CODE = "no_code"
    NO_SUBMISSION = "no_submission"
    BAD_SUBMISSION = "bad_submission"
    NON_FINITE = "non_finite"
    EVAL_ERROR = "eval_error"
    REPLY_ERROR = "reply_error"
    LOST_WORKER = "lost_worker"
    ILLEGAL_MOVE = "illegal_move"
    TIME_FORFEIT = "time_forfeit"
    STOPPED = "stopped"
    TAMPERED = "tampered"

    @property
    def advice(self) -> str:
        """One sentence for a person or a prompt: what happened and what to change."""
        return _ADVICE[self]


_ADVICE: dict[FailureKind, str] = {
    FailureKind.SYNTAX: "The program does not parse; fix the syntax error that is named.",
    FailureKind.IMPORT_BLOCKED: "It imports a module that is not allowed here; use only the allowed ones.",
    FailureKind.SIGNATURE: "The required function or object is missing or takes other arguments; keep its signature.",
    FailureKind.RUNTIME: "It raised an exception; fix the line that the traceback names.",
    FailureKind.EXIT: "It ended by itself with a non-zero exit code; do not call sys.exit or os._exit.",
    FailureKind.SIGNAL: "It was killed by a signal, as a crash in native code does; avoid the call that crashed.",
    FailureKind.TIMEOUT: "It ran past the wall-clock limit; do less work, use a faster method, or stop by its own "
    "clock with the best so far where it may look at one.",
    FailureKind.CPU: "It used up its CPU seconds; do less work or use a faster method.",
    FailureKind.MEMORY: "It used more memory than allowed; hold less data at once.",
    FailureKind.PROCESSES: "It started more processes or threads than allowed; lower n_jobs.",
    FailureKind.DISK: "It wrote more data or more files than allowed.",
    FailureKind.FILE_SIZE: "It wrote a file larger than allowed.",
    FailureKind.OUTPUT: "It printed more than allowed; print less.",
    FailureKind.NO_CODE: "The reply held no code block; answer with exactly one fenced code block.",
    FailureKind.NO_SUBMISSION: "It ended without writing submission/submission.csv.",
    FailureKind.BAD_SUBMISSION: "The submission does not have the required form; the message says what is wrong.",
    FailureKind.NON_FINITE: "Its score is NaN or infinite; check the predictions for NaN and infinity.",
    FailureKind.EVAL_ERROR: "The evaluator could not score the result.",
    FailureKind.REPLY_ERROR: "The model's reply could not be read, also after repairs.",
    FailureKind.LOST_WORKER: "The worker that ran it was lost, also after retries; nothing is known about the program.",
    FailureKind.ILLEGAL_MOVE: "It returned a move that the rules do not allow.",
    FailureKind.TIME_FORFEIT: "It overstepped its time for a move.",
    FailureKind.TAMPERED: "It changed how it is scored instead of what it computes; its result is void.",
    FailureKind.STOPPED: "The user stopped it while it ran; do something faster or of another kind.",
}
