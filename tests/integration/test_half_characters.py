"""Half characters (lone surrogates), which JSON can tell of and no file, database or page can hold, end no run."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.loop import open_loop
from support.plugins.toy import ToyEvaluator

from core.contracts import Evaluation
from core.state.failure import FailureKind
from core.storage.reader import RunReader
from reports.candidates import candidate_rows, candidates_csv, json_lines

HALF = "a\ud800b"
WHOLE = "a\N{REPLACEMENT CHARACTER}b"
DEEP: object = HALF
for _ in range(400):
    DEEP = [DEEP]
SAID = {
    "metrics": {HALF: HALF, "list": [HALF, {HALF: 1}], "deep": DEEP, "large": 10**400, "nan": float("nan")},
    "artifacts": {HALF: HALF},
    "features": {HALF: 1.0},
    "name": HALF,
    "logs": HALF,
    "message": HALF,
    "term_out": HALF,
    "exc_type": HALF,
    "exc_info": {"args": [HALF], "traceback": [[HALF, 1, HALF, HALF]]},
    "unisolated_reason": HALF,
    "metadata": {HALF: HALF},
}


class OddEvaluator(ToyEvaluator):
    """Every verdict, a failure too, says what no text can be."""

    def _one(self, node):
        found = super()._one(node)
        far = found.metric is not None and found.metric > 4
        changed = {"metric": None, "failure": FailureKind.RUNTIME} if far else {}
        return Evaluation(**{**dict(found), **SAID, **changed})


@pytest.mark.parametrize("together", [False, True])
def test_a_verdict_that_holds_them_is_kept_without(tmp_path: Path, together: bool) -> None:
    loop = open_loop(tmp_path / "run", steps=8, evaluator=OddEvaluator(together=together))
    assert loop.run()
    with RunReader(tmp_path / "run") as reader:
        nodes = list(reader.nodes())
        text = candidates_csv(candidate_rows(reader)) + "".join(json_lines(candidate_rows(reader)))
    assert len(nodes) >= 8 and text.encode()
    for node in nodes:
        assert node.model_dump_json().encode(), "no half character is left"
    assert any(WHOLE in node.metrics for node in nodes)


def test_a_run_that_they_had_ended_goes_on(tmp_path: Path) -> None:
    """An earlier version stored such a verdict, and could not commit its node."""

    class Odd(OddEvaluator):
        def evaluate(self, nodes):
            raise KeyboardInterrupt

    class Old:
        """A store as that version left it: with a verdict that nobody had cleaned."""

        def __init__(self, store):
            self._store = store

        def __getattr__(self, name):
            return getattr(self._store, name)

        def stages(self, node_id):
            return {
                "execute": {"metric": 1.5, **{k: v for k, v in SAID.items() if k != "metrics"}, "metrics": {HALF: HALF}}
            }

    loop = open_loop(tmp_path / "run", steps=3, evaluator=Odd(), wrap=Old)
    assert loop.run()
    with RunReader(tmp_path / "run") as reader:
        nodes = list(reader.nodes())
    assert len(nodes) >= 3
    for node in nodes:
        assert node.model_dump_json().encode() and node.metrics == {
            "a\N{REPLACEMENT CHARACTER}b": "a\N{REPLACEMENT CHARACTER}b"
        }
