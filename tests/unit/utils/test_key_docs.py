"""What `config` and `run -h` say of keys: all of them, those of sections that may be left out and of problems too."""

from __future__ import annotations

import re

import pytest

from problems.registry import PROBLEMS, option_models
from utils.config import check_config, known_keys, load_config, to_plain
from utils.config_section import Section, section_of
from utils.errors import ConfigError
from utils.key_docs import key_docs, option_docs
from utils.registry import ending_alike

LEFT_OUT = ("llm.code.price", "llm.refine.session", "execution.ray", "execution.modal")
"""Sections that are null unless something in them is set."""


@pytest.mark.parametrize("section", LEFT_OUT)
def test_a_section_that_may_be_left_out_is_a_key_and_so_is_all_in_it(section):
    docs = {doc.key: doc for doc in key_docs()}
    inside = [key for key in docs if key.startswith(f"{section}.")]
    assert inside and {section, *inside} <= set(known_keys())
    assert docs[section].default is None and "null" in docs[section].allowed
    assert all(docs[key].meaning for key in (section, *inside))


def test_a_list_or_a_mapping_of_sections_is_none():
    class Part(Section):
        size: int = 1

    assert section_of(Part) is section_of(Part | None) is Part
    assert section_of(list[Part]) is section_of(dict[str, Part] | None) is section_of(int) is None


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("execution.ray.adress=auto", "unknown key 'execution.ray.adress' (did you mean 'execution.ray.address'?)"),
        ("execution.modal.container=9", "did you mean 'execution.modal.containers'?"),
        ("execution.modal.containers=0", "execution.modal.containers=0"),
        ("llm.code.price.in=1", "did you mean 'llm.code.price.input'?"),
    ],
)
def test_what_a_runner_or_a_price_does_not_know_is_refused(word, said):
    with pytest.raises(ConfigError, match=re.escape(said)):
        load_config(None, [word], env={})


def test_what_a_runner_was_told_is_stored_and_read_back_and_an_empty_one_of_before_too():
    config = load_config(None, ["execution.ray.address=head:6379", "execution.modal.image=numpy,torch"], env={})
    assert (config.execution.ray.address, config.execution.modal.image) == ("head:6379", ["numpy", "torch"])
    assert check_config(to_plain(config)).execution == config.execution
    assert check_config({"execution": {"ray": {}, "modal": {}}}).execution.ray is None


def test_of_keys_that_end_alike_the_one_that_is_less_deep_is_meant():
    assert ending_alike("tokens", known_keys())[0] == "budget.tokens"
    assert ending_alike("usd", known_keys())[0] == "budget.usd"


@pytest.mark.parametrize("kind", PROBLEMS.names(()))
def test_every_option_of_a_problem_that_comes_along_has_a_meaning(kind):
    config = load_config(presets={"problem": kind}, env={})
    docs = option_docs(option_models(config), "problem.options.")
    assert [doc.key for doc in docs if not doc.meaning] == []
    assert bool(docs) == (kind not in ("connect_four", "chess_engines"))
    assert set(config.problem.options) <= {doc.key.rpartition(".")[2] for doc in docs}, "the preset's own"


def test_config_lists_the_options_of_the_problem_that_is_named(cli):
    said = cli.here("config", "problem.options", "--problem=tsp", "problem.options.cities=7").out
    assert "problem.options.cities = 7   (default 60)" in said and "problem.options.solver = null" in said
    assert "problem.options.isolation = auto" in cli.here("config", "problem.options.isolation", "--problem=script").out
    ended = cli.here("config", "problem.options.isolaton", "--problem=script")
    assert ended.code == 2 and "did you mean 'problem.options.isolation'" in ended.line
    (row,) = cli.here("config", "llm.code.price.input", "llm.code.price={input: 2, output: 3}", "--json").json
    assert (row["value"], row["allowed"]) == (2.0, "number >= 0")


def test_config_lists_the_options_of_a_plug_in_too(cli, tmp_path):
    (tmp_path / "problems").mkdir()
    text = '''from utils.config_section import Section


class Options(Section):
    height: int = 3
    """Rows of the board."""


OPTIONS = (Options,)


def build(cfg, project_dir):
    raise NotImplementedError
'''
    (tmp_path / "problems" / "towers.py").write_text(text)
    said = cli.here("config", "problem.options", f"--plugins={tmp_path}", "--problem.kind=towers").out
    assert "problem.options.height = 3" in said and "Rows of the board." in said
