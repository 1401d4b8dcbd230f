"""The engines in `examples/engines` are let in and play."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.python_chess import WITHOUT, chess_python

from core.arena.validator import static_refusal
from problems.chess_engines.problem import spec as chess_spec
from problems.connect_four.problem import spec as four_spec

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples" / "engines").glob("*.py"))


def test_there_are_examples():
    assert len(EXAMPLES) >= 3


@pytest.mark.long
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_beats_the_random_engine(cli, path):
    more: list[str] = []
    if "python_chess" in path.stem:
        if (python := chess_python()) is None:
            pytest.skip(WITHOUT)
        more = [f"execution.python={python}"]
    problem = "connect_four" if path.stem.startswith("four") else "chess_engines"
    spec = four_spec() if problem == "connect_four" else chess_spec()
    rival = cli.folder / "random.py"
    rival.write_text(spec.sparring.code)
    words = ["arena", str(path), str(rival), "--problem", problem, "--openings", "2", "--json"]
    ended = cli.here(*words, "arena.limit=depth:2", *more)
    assert ended.code == 0, ended.err
    rows = {row["node_id"]: row for row in ended.json["standings"]}
    assert rows["engine-1"]["score"] > 0.5 and rows["engine-1"]["forfeits"] == {}


@pytest.mark.parametrize("path", [path for path in EXAMPLES if "python_chess" in path.stem], ids=lambda path: path.stem)
def test_python_chess_is_refused_where_candidates_do_not_have_it(path):
    refusal = static_refusal(path.read_text(), {"rust_chess"})
    assert refusal is not None and "'chess'" in refusal.message
