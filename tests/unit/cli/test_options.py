"""Options that several verbs share."""

from __future__ import annotations

import argparse
import threading

from support.command_line import ROOT

from cli.options import config_of, project_dir_of, remark
from cli.parser import parse
from utils.user_places import check_file_place


def test_a_file_in_the_seeds_form_is_translated():
    config = config_of(parse(["--config", str(ROOT / "examples" / "bin_packing" / "seed_style.yaml")]))
    assert config.search.max_generations == 20 and config.search.policy == "islands"


def test_verbs_that_only_look_need_no_presets(tmp_path):
    args = argparse.Namespace(overrides=[f"project.dir={tmp_path}", "presets.problem=gone"])
    assert project_dir_of(args) == str(tmp_path)


def test_remarks_leave_standard_output_alone(capsys):
    remark("keys by an older name")
    assert capsys.readouterr() == ("", "keys by an older name\n")


def test_a_place_is_tried_without_a_file_that_somebody_waits_for(tmp_path):
    """The file of `--ready` was there for a moment, empty, before the run was: who waited for it read nothing."""
    place, seen, over = tmp_path / "ready", [], threading.Event()
    watcher = threading.Thread(target=lambda: [seen.append(1) for _ in iter(over.is_set, True) if place.exists()])
    watcher.start()
    for _ in range(300):
        check_file_place("ready", place)
    over.set()
    watcher.join()
    assert not seen and not list(tmp_path.iterdir())
