"""A deps without processes: programs of these tests are ours, so they may run in the test's own process."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.contracts import EvaluatorDeps, ExecutionResult, JobContext, JobSpec, Limits, SessionFailure
from core.state.failure import FailureKind
from core.state.journal import Journal


class PlainSession:
    away = 0.0

    def __init__(self, code: str, prelude: str) -> None:
        self._text, self._names = (prelude, code), None

    def call(self, function: str, args: Any, *, timeout: float) -> Any:
        try:
            if self._names is None:
                names: dict[str, Any] = {}
                for text in self._text:
                    exec(text, names)
                self._names = names
            return self._names[function](*args)
        except Exception as error:
            result = ExecutionResult(failure=FailureKind.RUNTIME, message=f"{type(error).__name__}: {error}")
            raise SessionFailure(result) from error

    def call_many(self, function: str, batch: Any, *, timeout: float) -> list[Any]:
        return [self.call(function, args, timeout=timeout) for args in batch]

    def leave(self) -> None:
        pass

    def close(self) -> ExecutionResult:
        return ExecutionResult()


class PlainSandbox:
    tier = "warm"

    def __init__(self) -> None:
        self.sessions = 0

    def session(self, code: str, *, prelude: str = "", **_: Any) -> PlainSession:
        self.sessions += 1
        return PlainSession(code, prelude)


class PlainJobs:
    slots = 1

    def __init__(self, scratch: Path) -> None:
        self.deps = JobContext(sandbox=PlainSandbox(), folder=scratch)  # type: ignore[arg-type]
        self.entries: list[str] = []

    def run(self, spec: JobSpec) -> Any:
        self.entries.append(spec.entry)
        module, _, name = spec.entry.partition(":")
        return getattr(importlib.import_module(module), name)(spec.payload, self.deps)

    def map(self, specs: Any) -> list[Any]:
        return [self.run(spec) for spec in specs]


class Told:
    """Keeps the events that an evaluator tells."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def __call__(self, events: Any) -> None:
        self.told += events


@pytest.fixture
def deps(tmp_path: Path) -> EvaluatorDeps:
    """`deps.jobs.entries` and `deps.jobs.deps.sandbox.sessions` tell what was run, `deps.append.told` what was told."""
    return EvaluatorDeps(
        jobs=PlainJobs(tmp_path), limits=Limits(seconds=5), run_dir=tmp_path, work_dir=tmp_path, seed=1,
        journal=Journal(lower_is_better=True), games=None, append=Told(), isolated=True, tune_trials=5,
    )  # type: ignore[arg-type]  # fmt: skip


@pytest.fixture
def rule() -> Callable[[str], str]:
    """A program from the expression it returns."""

    def make(expression: str, parameters: str = "item, remaining_capacity") -> str:
        return f"def score_bin({parameters}):\n    gap = remaining_capacity - item\n    return {expression}\n"

    return make
