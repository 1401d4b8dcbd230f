"""Where programs run: a cloud that cannot be used is a warning, not the end."""

from __future__ import annotations

import importlib.util
import json
from contextlib import closing
from pathlib import Path

import pytest
from support.command_line import toy_words

from core.executor.writer_view import WriterView
from runs.parts.workers import places_of_work
from utils.config import load_config


@pytest.mark.skipif(importlib.util.find_spec("modal") is not None, reason="the SDK of Modal is installed here")
def test_without_the_sdk_of_modal_the_run_goes_on_here(cli):
    ended = cli.here(*toy_words(2), "execution.runner=modal")
    assert ended.code == 0, ended.err
    assert "warning: Modal cannot be used" in ended.out and "pip install" in ended.out and cli.show()["steps"] == 2


def test_the_places_of_a_project_are_all_but_what_is_worked_with(tmp_path):
    project, data = tmp_path / "project", tmp_path / "data"
    packages, prefix = tmp_path / "site-packages" / "mine", tmp_path / "prefix"
    for folder in (project / "workspaces", project / "notes", data / "public", data / "private", packages):
        folder.mkdir(parents=True)
    for folder in ("bin", "lib"):
        (prefix / folder).mkdir(parents=True)
    words = [f"project.dir={project}", f"problem.path={data}", f"problem.evaluator={packages / 'evaluator.py'}"]
    config = load_config(None, [*words, f"problem.source={prefix / 'a.py'},{project / 'notes' / 'b.py'}"], env={})
    assert places_of_work(config, [data / "public"]) == [data / "private", project / "notes"]
    assert places_of_work(config) == [data, project / "notes"]


def test_a_writer_sees_of_a_project_what_is_named(tmp_path):
    view = WriterView("lite", (), [tmp_path / "notes", tmp_path / "keys"])
    with closing(view), view.open(["/bin/true"], [str(tmp_path / "notes")]) as confined:
        hidden = json.loads(Path(confined.line[-1]).read_text())["hide"]
    assert str(tmp_path / "keys") in hidden and str(tmp_path / "notes") not in hidden
