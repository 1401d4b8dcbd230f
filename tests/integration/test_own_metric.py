"""A metric of the user's own that hangs is named after a minute, not waited for an hour."""

from __future__ import annotations

import time

import pytest

from problems.competition import prepared


@pytest.mark.parametrize(
    "body",
    ["time.sleep(99)", "while True: pass", "__import__('re').match('(a+)+b', 'a' * 60)", "[0][0]\ntime.sleep(99)"],
    ids=["sleeps", "loops", "loops in C", "its file hangs"],
)
def test_it_has_a_deadline_of_its_own(cli, monkeypatch, body):
    monkeypatch.setattr(prepared, "TRY_SECONDS", 1)
    (cli.folder / "data").mkdir()
    rows = "".join(f"{n},{n % 7},{3 * n + n % 7}\n" for n in range(80))
    (cli.folder / "data" / "train.csv").write_text(f"id,a,y\n{rows}")
    metric = cli.folder / "own.py"
    metric.write_text(f"import time\ndef slow(truth, predicted):\n    return {body}\n" if "while" not in body else
                      f"def slow(truth, predicted):\n    {body}\n")  # fmt: skip
    began = time.monotonic()
    words = ["--data.target=y", f"--data.metric={metric}:slow", "--problem.direction=min", "search.max_steps=1"]
    ended = cli.here("--data.dir=data", *words, "logging.view=quiet")
    assert ended.code == 2 and not cli.runs and time.monotonic() - began < 30
    assert ended.line.endswith(f"data.metric={metric}:slow: no score within 1 s when it was tried on the labels")
