"""The API's document: current, and kept whatever is asked. No answer is a 5xx."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance
from support.synthetic_runs import write_all

from dashboard.server.app import create_app
from dashboard.server.document import document

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = 10


def test_the_stored_document_is_current():
    stored = (ROOT / "dashboard" / "web" / "openapi.json").read_text(encoding="utf-8")
    assert stored == document(), "run `make types`: the page's types are made from dashboard/web/openapi.json"


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    """The application over real stores; what it starts is a program that ends at once."""
    project = tmp_path_factory.mktemp("api")
    write_all(project / "logs", steps=12)
    main = project / "main.py"
    main.write_text("print('not a search')\n")
    app = create_app(project, main=main, hosts=("testserver",))
    return schemathesis.openapi.from_asgi("/api/openapi.json", app)


WANTED = [not_a_server_error, response_schema_conformance]
"""The rest (undocumented status codes and the like) is a matter of taste; these two are promises."""
RUNS = ("chess-demo", "bin_packing-demo", "competition-demo", "connect_four-demo")
OPERATIONS = [
    (path, method.upper())
    for path, methods in json.loads((ROOT / "dashboard" / "web" / "openapi.json").read_text("utf-8"))["paths"].items()
    for method in methods
]


@pytest.mark.long
@pytest.mark.parametrize(("path", "method"), OPERATIONS, ids=lambda part: part)
def test_any_request_is_answered_as_documented(api, path, method):
    """Names as they come, and names of real runs, so that the views behind them are reached too."""

    @settings(max_examples=EXAMPLES, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(case=api[path][method].as_strategy(), run=st.sampled_from(("", *RUNS)))
    def ask(case: schemathesis.Case, run: str) -> None:
        if run and "run" in (case.path_parameters or {}):
            case.path_parameters["run"] = run
        case.call_and_validate(checks=WANTED)

    ask()


@pytest.mark.long
def test_real_nodes_and_games_are_told_as_documented(api):
    played = 0
    for run in RUNS:
        for path, query in (
            ("nodes", {}),
            ("snapshot", {}),
            ("events", {"limit": 5000}),
            ("games", {}),
            ("engines", {}),
        ):
            case = api[f"/api/runs/{{run}}/{path}"]["GET"].Case(path_parameters={"run": run}, query=query)
            answer = case.call_and_validate(checks=WANTED)
            assert answer.status_code == 200
            if path == "nodes":
                node = answer.json()["nodes"][-1]["node_id"]
                for part in ("", "/diff", "/calls", "/code"):
                    one = api[f"/api/runs/{{run}}/nodes/{{node_id}}{part}"]["GET"]
                    got = one.Case(path_parameters={"run": run, "node_id": node}).call_and_validate(checks=WANTED)
                    assert got.status_code == 200
            for game in [game["game_id"] for game in answer.json()["games"][:1]] if path == "games" else ():
                played += 1
                for part in ("game", "pgn"):
                    one = api[f"/api/runs/{{run}}/{part}"]["GET"]
                    got = one.Case(path_parameters={"run": run}, query={"id": game}).call_and_validate(checks=WANTED)
                    assert got.status_code == 200
    assert played == 2, "of the two arenas"
