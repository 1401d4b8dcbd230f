"""`tracking.otel`: the run as OpenTelemetry traces and metrics, over OTLP/HTTP.

One trace a run: a span a process (`swarm_evo.run`), below it a span a step (`swarm_evo.step`), below that a span a call
of a model, with the names of OpenTelemetry's conventions for generative AI. Metrics are gauges with the run's name.
Langfuse, W&B Weave, MLflow, Grafana and Jaeger read both. Headers and time limits: the standard `OTEL_EXPORTER_OTLP_*`
variables. Source text leaves only with `tracking.programs=true`; keys never do.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

from core.events import Event, FinalScored, LLMCalled, NodeCommitted, NodeProposed, RunFinished
from core.storage.reader import RunReader
from runs.facts import RunFacts
from utils.counts import counted
from utils.errors import SwarmEvoError

FLUSH = 10_000
"""Milliseconds that the end waits for the server."""
TIMEOUT = 5.0
EVERY = 10_000
"""Milliseconds between two exports of the metrics."""


class OtelTracker:
    """Turns events into spans and gauges; the exporters have threads of their own."""

    def __init__(self, facts: RunFacts) -> None:
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # what fails is told by us, once
        self._facts = facts
        base = str(facts.config.tracking.otel).rstrip("/")
        resource = Resource.create({"service.name": "swarm-evo", "swarm_evo.run": facts.run})
        self._exporter = _CountingExporter(endpoint=f"{base}/v1/traces", timeout=TIMEOUT)
        self._spans = TracerProvider(resource=resource, id_generator=_OneTrace(facts.run), shutdown_on_exit=False)
        self._spans.add_span_processor(BatchSpanProcessor(self._exporter))
        reader = PeriodicExportingMetricReader(
            OTLPMetricExporter(endpoint=f"{base}/v1/metrics", timeout=TIMEOUT), export_interval_millis=EVERY
        )
        self._meters = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
        self._tracer, self._meter = self._spans.get_tracer("swarm_evo"), self._meters.get_meter("swarm_evo")
        self._gauges: dict[str, Any] = {}
        named = {"problem": facts.problem.name, "writer": facts.writer, "policy": facts.config.search.policy}
        now = datetime.now(UTC)
        self._root: trace.Span | None = self._begin("swarm_evo.run", now, {**named, "resumed": facts.resumed})
        self._steps: dict[str, trace.Span] = {}

    def emit(self, event: Event) -> None:
        """One event; those that no span tells of are left out."""
        match event:
            case NodeProposed():
                known = {"node_id": event.node_id, "operator": event.operator, "parent_ids": list(event.parent_ids)}
                self._steps[event.node_id] = self._begin("swarm_evo.step", event.at, known, self._root)
            case LLMCalled() if event.provider != "rules":
                self._called(event)
            case NodeCommitted():
                self._committed(event)
            case FinalScored():
                self._gauge("final_metric", event.metric)
            case RunFinished() if self._root is not None:
                self._root.set_attributes(_named({"status": event.status, "reason": event.reason}))
                self._root.end(_nanoseconds(event.at))
                self._root = None

    def close(self) -> None:
        """Deliver what is left.

        Raises:
            SwarmEvoError: spans that the server did not take.
        """
        if self._root is not None:  # the process was interrupted: what it did is told all the same
            self._root.end()
        before = self._exporter.lost
        self._spans.force_flush(FLUSH)
        self._spans.shutdown()
        if self._exporter.lost == before:  # else nobody is there to take the metrics
            self._meters.force_flush(FLUSH)
            self._meters.shutdown(FLUSH)
        if self._exporter.lost:
            raise SwarmEvoError(
                f"{counted(self._exporter.lost, 'span')} could not be delivered to {self._facts.config.tracking.otel}"
            )

    def _committed(self, event: NodeCommitted) -> None:
        fields = ("metric", "is_valid", "exec_time", "writer", "cost_usd", "prompt_tokens", "completion_tokens")
        told = {name: getattr(event, name) for name in fields} | {"step": event.number}
        told |= {"failure": event.failure.value if event.failure else None}
        span = self._steps.pop(event.node_id, None)
        if span is not None:
            span.set_attributes(_named(told | self._program(event.node_id)))
            if event.failure:
                span.set_status(trace.StatusCode.ERROR, event.failure.value)
            span.end(_nanoseconds(event.at))
        for name in ("metric", "best_metric", "elapsed", "cost_usd"):
            self._gauge(name, getattr(event, name))
        self._gauge("step", event.number)

    def _called(self, event: LLMCalled) -> None:
        names = {
            "gen_ai.operation.name": "chat", "gen_ai.provider.name": event.provider, "gen_ai.system": event.provider,
            "gen_ai.request.model": event.model, "gen_ai.usage.input_tokens": event.prompt_tokens,
            "gen_ai.usage.output_tokens": event.completion_tokens, "swarm_evo.cost_usd": event.cost_usd,
            "swarm_evo.role": event.role, "swarm_evo.tries": event.tries, "swarm_evo.cached": event.cached,
        }  # fmt: skip
        parent = self._steps.get(event.node_id or "") or self._root
        began = event.at - timedelta(seconds=event.seconds)
        span = self._begin(f"chat {event.model}", began, {}, parent, trace.SpanKind.CLIENT)
        span.set_attributes({name: value for name, value in names.items() if value is not None})
        span.end(_nanoseconds(event.at))

    def _program(self, node_id: str) -> dict[str, Any]:
        if not self._facts.config.tracking.programs:
            return {}
        with RunReader(self._facts.run_dir) as reader:
            node = reader.node(node_id)
        return {"code": node.code if node else None}

    def _gauge(self, name: str, value: float | None) -> None:
        if value is not None:
            if name not in self._gauges:
                self._gauges[name] = self._meter.create_gauge(f"swarm_evo.{name}")
            self._gauges[name].set(value, {"swarm_evo.run": self._facts.run})

    def _begin(
        self,
        name: str,
        at: datetime,
        attributes: dict[str, Any],
        parent: trace.Span | None = None,
        kind: trace.SpanKind = trace.SpanKind.INTERNAL,
    ) -> trace.Span:
        context = trace.set_span_in_context(parent) if parent else None
        return self._tracer.start_span(
            name, context, kind=kind, attributes=_named(attributes), start_time=_nanoseconds(at)
        )


class _OneTrace(RandomIdGenerator):
    """A trace id that all processes of one run share."""

    def __init__(self, run: str) -> None:
        self._trace_id = int.from_bytes(sha256(f"swarm-evo {run}".encode()).digest()[:16], "big")

    def generate_trace_id(self) -> int:
        return self._trace_id


class _CountingExporter(OTLPSpanExporter):
    """Counts the spans that were not taken."""

    lost = 0

    def export(self, spans: Any) -> SpanExportResult:
        result = super().export(spans)
        if result is not SpanExportResult.SUCCESS:
            self.lost += len(spans)
        return result


def _named(attributes: dict[str, Any]) -> dict[str, Any]:
    return {f"swarm_evo.{name}": value for name, value in attributes.items() if value is not None}


def _nanoseconds(at: datetime) -> int:
    return int(at.timestamp() * 1e9)
