"""What a run tells to other programs: OpenTelemetry, a command, an address; and that none of them can harm it."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec

import pytest
from support.chat_server import ChatServer


def _has_otel() -> bool:
    try:
        return find_spec("opentelemetry.proto") is not None
    except ModuleNotFoundError:
        return False


class Receiver(ThreadingHTTPServer):
    """Keeps every request's path and body."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.told: list[tuple[str, bytes]] = []
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.told.append((self.path, body))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    yield server
    server.shutdown()
    server.server_close()


def spans_of(receiver: Receiver) -> list[tuple[str, dict[str, object], object]]:
    """(name, attributes, the span) of everything that was received."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    found = []
    for path, body in receiver.told:
        if path == "/v1/traces":
            request = ExportTraceServiceRequest.FromString(body)
            scopes = [scope for resource in request.resource_spans for scope in resource.scope_spans]
            found += [span for scope in scopes for span in scope.spans]
    return [(span.name, {pair.key: _value(pair.value) for pair in span.attributes}, span) for span in found]


def _value(value) -> object:
    return getattr(value, value.WhichOneof("value"))


def gauges_of(receiver: Receiver) -> dict[str, float]:
    """The newest value of each gauge."""
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

    found = {}
    for path, body in receiver.told:
        if path == "/v1/metrics":
            for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                for scope in resource.scope_metrics:
                    for metric in scope.metrics:
                        point = metric.gauge.data_points[-1]
                        found[metric.name] = getattr(point, point.WhichOneof("value"))
    return found


@pytest.mark.long
@pytest.mark.skipif(not _has_otel(), reason="the extra otel is not installed")
def test_a_run_is_one_trace_of_its_steps_and_calls_and_no_source_leaves_unasked(cli, toy, receiver):
    with ChatServer(lambda request, number: f"```python\n# planted-source\nx = {number}.5\n```") as server:
        words = [*server.words(), f"tracking.otel={receiver.address}", "llm.code.api_key=sk-planted"]
        assert cli(*toy(4), *words).code == 0
    shown, spans = cli.show(), spans_of(receiver)
    assert [name for name, _, _ in spans].count("swarm_evo.run") == 1
    steps = {told["swarm_evo.node_id"]: (told, span) for name, told, span in spans if name == "swarm_evo.step"}
    for node in shown["nodes"]:
        told, _ = steps[node["node_id"]]
        assert told.get("swarm_evo.metric") == node["metric"] and told["swarm_evo.operator"] == node["operator"]
    calls = [(told, span) for name, told, span in spans if name.startswith("chat ")]
    assert calls and all(told["gen_ai.usage.input_tokens"] > 0 for told, _ in calls)
    parents = {span.span_id for _, span in steps.values()}
    assert all(span.parent_span_id in parents for _, span in calls)
    assert len({span.trace_id for _, _, span in spans}) == 1
    assert gauges_of(receiver)["swarm_evo.best_metric"] == shown["best_metric"]
    sent = b"".join(body for _, body in receiver.told)
    assert b"planted-source" not in sent and b"sk-planted" not in sent


@pytest.mark.long
@pytest.mark.skipif(not _has_otel(), reason="the extra otel is not installed")
def test_a_receiver_that_is_not_there_costs_one_warning(cli, toy):
    ended = cli.here(*toy(3), "tracking.otel=http://127.0.0.1:9")
    assert ended.code == 0
    waits, lost = [line for line in ended.out.splitlines() if line.startswith("warning: tracking.otel: ")]
    assert "the end waits up to 15 s" in waits and "could not be delivered" in lost
    log = (cli.run_dir / "system.log").read_text()
    assert log.count("tracking.otel: ") == 1 and "could not be delivered" in log


def test_a_new_best_and_the_end_are_told_to_a_command_and_an_address(cli, toy, receiver, tmp_path):
    told = tmp_path / "told.jsonl"
    words = [f"notify.command=cat >> {told}", f"notify.url={receiver.address}/planted-hook?key=planted"]
    assert cli.here(*toy(6), *words, "notify.seconds=0").code == 0
    shown = cli.show()
    lines = [json.loads(line) for line in told.read_text().splitlines()]
    assert lines == [json.loads(body) for _, body in receiver.told]
    assert [line["event"] for line in lines[-1:]] == ["end"] and lines[-2]["event"] == "best"
    assert lines[-1]["metric"] == lines[-2]["metric"] == shown["best_metric"]
    assert lines[-1]["verdict"] == shown["verdict"]["text"] and lines[-1]["verdict"] in lines[-1]["text"]
    for line in lines[:-1]:
        is_step = line["step"] is not None
        named = f"step {line['step']}, {line['node_id']}" if is_step else f"baseline {line['node_id']}"
        assert line["text"].endswith(f" {line['unit']}, {named}") and ("candidate" in line["text"]) == is_step
    stored = "".join(path.read_text(errors="replace") for path in cli.run_dir.rglob("*") if path.is_file())
    stored += json.dumps(shown)
    assert "planted" not in stored, "the address of a web hook is a secret, its path too: that is all that Slack asks"
    resumed = ["resume", "latest", "search.max_steps=8"]
    refused = cli.here(*resumed)
    assert refused.code == 2 and "notify.url is stored as ********, without its secret; give it again" in refused.line
    assert cli.here("export-best", "latest").code == 0, "nobody is told of an export"
    assert cli.here(*resumed, f"notify.url={receiver.address}/planted-hook").code == 0
    assert cli.here("resume", "latest", "search.max_steps=9", "notify.url=null").code == 0


def test_many_bests_in_a_short_time_are_one_message_and_the_newest_is_never_lost(cli, toy, receiver):
    assert cli.here(*toy(12), f"notify.url={receiver.address}", "notify.seconds=3600").code == 0
    lines = [json.loads(body) for _, body in receiver.told]
    assert [line["event"] for line in lines] in (["best", "end"], ["best", "best", "end"])
    assert lines[-2]["metric"] == cli.show()["best_metric"]


def test_a_command_that_fails_and_a_server_that_hangs_change_nothing(cli, toy):
    ended = cli.here(*toy(3), "notify.command=exit 3", "notify.url=http://127.0.0.1:9/")
    assert ended.code == 0 and cli.show()["status"] == "finished"
    log = (cli.run_dir / "system.log").read_text()
    assert log.count("notify.command: ") == log.count("notify.url: ") == 1


def test_a_command_that_complains_is_told_the_end_all_the_same(cli, toy, tmp_path):
    told = tmp_path / "told.jsonl"
    assert cli.here(*toy(6), f"notify.command=cat >> {told}; exit 3", "notify.seconds=3600").code == 0
    assert [json.loads(line)["event"] for line in told.read_text().splitlines()][-1] == "end"
    assert "it failed" in (cli.run_dir / "system.log").read_text()


@pytest.mark.parametrize(
    ("word", "told"),
    [
        (
            "tracking.otel=localhost:4318",
            ": an address that begins with http:// or https:// and names a host is needed",
        ),
        ("tracking.otel=http://", "tracking.otel=http://: an address that begins"),
        (
            "notify.url=ftp://x",
            "notify.url: an address that begins with http:// or https:// and names a host is needed",
        ),
        ("notify.seconds=-1", "notify.seconds"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(cli, toy, word, told):
    ended = cli.here(*toy(1), word)
    assert ended.code == 2 and told in ended.line


@pytest.mark.skipif(find_spec("mlflow") is not None, reason="mlflow is installed")
def test_a_tracker_without_its_package_says_how_to_get_it(cli, toy):
    ended = cli.here(*toy(1), "tracking.mlflow=http://127.0.0.1:9")
    assert ended.code == 2 and "mlflow" in ended.line and "pip install" in ended.line
