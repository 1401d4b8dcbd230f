"""A real MLflow server on loopback is filled by a run, by its own protocol and by OpenTelemetry."""

from __future__ import annotations

import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.processes import eventually

mlflow = pytest.importorskip("mlflow")
pytest.importorskip("mlflow.server", reason="the whole package mlflow is needed")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("mlflow")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["server", "--host=127.0.0.1", f"--port={port}", f"--backend-store-uri=sqlite:///{folder}/mlflow.db",
             f"--default-artifact-root={folder / 'artifacts'}", "--workers=1"]  # fmt: skip
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen([sys.executable, "-m", "mlflow", *words], cwd=folder, stdout=log, stderr=log)
    try:
        assert eventually(lambda: _answers(f"http://127.0.0.1:{port}/health"), 120), (folder / "server.log").read_text()
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(20)


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@pytest.mark.timeout(400)
def test_a_run_is_a_run_of_mlflow_and_a_resume_goes_on_in_it(address: str, cli, toy) -> None:
    words = [f"tracking.mlflow={address}", "tracking.programs=true", "tracking.experiment=toys"]
    assert cli(*toy(4), *words, timeout=200).code == 0
    client = mlflow.tracking.MlflowClient(tracking_uri=address)
    experiment = client.get_experiment_by_name("toys")
    (run,) = client.search_runs([experiment.experiment_id])
    shown = cli.show()
    assert run.info.run_name == shown["run"] and run.info.status == "FINISHED"
    assert run.data.params["search.max_steps"] == "4" and run.data.tags["swarm_evo.verdict"] == shown["verdict"]["text"]
    best = client.get_metric_history(run.info.run_id, "best_metric")
    assert max(metric.step for metric in best) == shown["steps"] == 4
    assert best[-1].value == shown["best_metric"]
    names = {Path(file.path).name for file in client.list_artifacts(run.info.run_id, "best_solution")}
    assert {"solution.py", "node.json"} <= names

    assert cli("resume", "latest", "search.max_steps=7", timeout=200).code == 0
    (again,) = client.search_runs([experiment.experiment_id])
    history = client.get_metric_history(again.info.run_id, "best_metric")
    assert again.info.run_id == run.info.run_id and max(metric.step for metric in history) == 7
    assert again.info.status == "FINISHED"


@pytest.mark.timeout(400)
def test_mlflow_takes_our_opentelemetry(address: str, cli, toy, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp")
    client = mlflow.tracking.MlflowClient(tracking_uri=address)
    experiment = client.create_experiment("traces")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS", f"x-mlflow-experiment-id={experiment}")
    assert cli(*toy(3), f"tracking.otel={address}", timeout=200).code == 0
    log = (cli.run_dir / "system.log").read_text()
    assert "could not be delivered" not in log
    (found,) = eventually(lambda: client.search_traces(locations=[experiment]), 30)
    assert {span.name for span in found.data.spans} >= {"swarm_evo.run", "swarm_evo.step"}
