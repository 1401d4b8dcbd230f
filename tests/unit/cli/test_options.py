"""Options that several verbs share."""

from __future__ import annotations

import argparse

from support.command_line import ROOT

from cli.options import config_of, project_dir_of, remark
from cli.parser import parse


def test_a_file_in_the_seeds_form_is_translated():
    config = config_of(parse(["--config", str(ROOT / "examples" / "bin_packing" / "seed_style.yaml")]))
    assert config.search.max_generations == 20 and config.search.policy == "islands"


def test_verbs_that_only_look_need_no_presets(tmp_path):
    args = argparse.Namespace(overrides=[f"project.dir={tmp_path}", "presets.problem=gone"])
    assert project_dir_of(args) == str(tmp_path)


def test_remarks_leave_standard_output_alone(capsys):
    remark("keys by an older name")
    assert capsys.readouterr() == ("", "keys by an older name\n")
