from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from core.state.node import Node
from problems.bin_packing.problem import BinPackingProblem, Options, build
from problems.bin_packing.references import BEST_FIT, sum_of_squares
from problems.bin_packing.seed_yaml import _allowed, is_seed_style, translate
from utils.config import check_config, load_config
from utils.errors import ConfigError

ROOT = Path(__file__).resolve().parents[4]


def config(name: str | None = "u120", **options):
    return SimpleNamespace(
        problem=SimpleNamespace(name=name, path=None, options=options),
        search=SimpleNamespace(top_k_for_full_eval=3),
    )


def test_built_from_the_configuration():
    problem = build(config("u250", signature="pair"), Path("."))
    assert problem.name == "bin_packing/u250"
    assert "score_bin(item, remaining_capacity)\n" in problem.statement()
    assert build(config(None), Path(".")).name == "bin_packing/weibull_5k"


def test_a_wrong_option_names_the_allowed_ones():
    with pytest.raises(ConfigError, match=r"problem\.options\.colour.*signature"):
        build(config(colour="red"), Path("."))


def test_the_preset_loads():
    loaded = load_config(presets={"problem": "bin_packing"}, env={})
    assert loaded.search.policy == "islands"
    assert loaded.search.batch == loaded.search.options.generation_size
    assert build(loaded, Path(".")).data.capacity == 100


def test_prompts_say_what_a_rule_sees():
    problem = BinPackingProblem("u120", Options())
    text = problem.statement()
    assert "histogram" in text and "150" in text
    assert "histogram" in problem.prompt_extras()["signature"]
    assert "capacity: 150" in problem.preview()


@pytest.mark.long
@pytest.mark.parametrize("code", [BEST_FIT, sum_of_squares(150)])
def test_the_exported_program_prints_its_own_test_score(tmp_path, code, deps):
    problem = BinPackingProblem("u120", Options(validation=3, test=8))
    node = Node(id="best", code=code, writer="rules")
    (path,) = problem.export(node, tmp_path / "best", tmp_path)
    done = subprocess.run([sys.executable, "-I", str(path)], capture_output=True, text=True, cwd="/", timeout=240)
    assert done.returncode == 0, done.stderr
    (final,) = problem.evaluator(deps).final([node])
    assert done.stdout.strip() == f"test excess: {final.metric:.6f}"


def test_the_export_of_a_file_carries_its_test_instances(tmp_path):
    (tmp_path / "six.txt").write_text("6\n" + "".join(f"i{n}\n10 4 2\n7\n3\n4\n{n + 1}\n" for n in range(6)))
    problem = BinPackingProblem(str(tmp_path / "six.txt"), Options())
    (path,) = problem.export(Node(id="n", code=BEST_FIT), tmp_path / "best", tmp_path)
    (tmp_path / "six.txt").unlink()
    done = subprocess.run([sys.executable, "-I", str(path)], capture_output=True, text=True, timeout=240)
    assert done.stdout == "test excess: 0.000000\n"


# ---------------------------------------------------------------- the seed's YAML

SEED = yaml.safe_load((ROOT / "examples" / "bin_packing" / "seed_style.yaml").read_text())


def test_the_seeds_example_becomes_a_sound_configuration():
    assert is_seed_style(SEED)
    ours = check_config(translate(SEED))
    assert (ours.project.seed, ours.project.name) == (42, "binpacking_demo_001")
    assert (ours.search.max_generations, ours.search.islands.population_size, ours.search.islands.num_islands) == (
        20,
        50,
        3,
    )
    assert ours.search.top_k_for_full_eval == 10
    assert ours.problem.name == "weibull_5k"
    assert ours.problem.options == {"data_seed": 42}
    assert ours.llm.code.provider == "rules"
    assert ours.project.dir == "artifacts"


def test_two_models_become_code_and_refine():
    providers = [
        {"provider_id": "cheap", "provider_type": "deepseek", "model_name": "deepseek-chat", "max_retries": 2},
        {"provider_id": "strong", "provider_type": "openai", "model_name": "gpt-4", "timeout_seconds": 9},
    ]
    ours = translate({**SEED, "llm_providers": providers, "generator_provider_id": "cheap",
                      "refiner_provider_id": "strong", "evaluator": {"capacity": 150}})  # fmt: skip
    assert ours["llm"]["code"]["base_url"] == "https://api.deepseek.com"
    assert ours["llm"]["code"]["attempts"] == 3
    assert ours["llm"]["refine"] == {"provider": "openai", "model": "gpt-4", "timeout": 9}
    assert ours["search"]["islands"]["refine_interval"] == 1
    assert ours["problem"]["name"] == "u500"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"evaluator": {"capacity": 77}}, "evaluator.capacity=77"),
        ({"evaluator": {"color": 1}}, "evaluator.color"),
        ({"task_name": "sorting"}, "task_name=sorting"),
        ({"populaton_size": 3}, "populaton_size"),
        ({"generator_provider_id": "nobody"}, "generator_provider_id=nobody"),
    ],
)
def test_what_has_no_counterpart_is_named(change, named):
    with pytest.raises(ConfigError) as error:
        translate({**SEED, **change})
    assert named in str(error.value)


def test_the_mapping_in_the_preset_names_every_key_that_is_read():
    text = (ROOT / "config" / "problem" / "bin_packing.yaml").read_text()
    table = re.findall(r"^#   (\w+)", text, re.MULTILINE)
    providers = {"generator_provider_id", "refiner_provider_id"}  # told in the line of llm_providers
    assert set(table) | providers == _allowed() and all(name in text for name in providers)


def test_our_own_files_are_not_taken_for_the_seeds():
    assert not is_seed_style(yaml.safe_load((ROOT / "config" / "default.yaml").read_text()))
