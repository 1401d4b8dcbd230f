"""Programs that are given: scored before anything is asked, once."""

from __future__ import annotations

import pytest

from runs.session import RunSession
from utils.errors import ConfigError


@pytest.fixture
def programs(tmp_path):
    (tmp_path / "good.py").write_text("x = 2.125\n")
    (tmp_path / "bad.py").write_text("x = nothing\n")
    (tmp_path / "raw.py").write_bytes(b"\xff\xfe\x00")
    return {name: str(tmp_path / f"{name}.py") for name in ("good", "bad", "raw")}


def test_they_are_the_first_nodes_and_a_resume_leaves_them_alone(toy_config, programs):
    config = toy_config(2, f"initial={programs['good']},{programs['bad']}")
    with RunSession(config, programs=[("mine", "x = 3\n")]) as session:
        session.score_seeds()
        given = [(node.plan, node.operator, node.metric_value) for node in session.search.journal]
        assert given == [("good.py", "user", 0.125), ("bad.py", "user", None), ("mine", "user", 1.0)]
        session.run()
    with RunSession(config, session.run_dir) as again:
        again.score_seeds()
        assert len([node for node in again.search.journal if node.operator == "user"]) == 3
        assert again.search.journal.steps == 2, "they are no steps"


def test_a_file_that_is_no_text_is_refused(toy_config, programs):
    with RunSession(toy_config(2, f"initial={programs['raw']}")) as session:
        with pytest.raises(ConfigError, match="cannot be read as text: line 1"):
            session.run()


def test_a_start_without_a_score_is_told(toy_config, programs):
    with RunSession(toy_config(2, f"initial={programs['bad']}")) as session:
        assert session.run() == 0
    assert "no program that was given could be scored" in (session.run_dir / "system.log").read_text()
