"""OpenEvolve's own examples, unmodified: those that need another language, a folder or a configuration, by one command.

They are looked for where `OPENEVOLVE` says (a checkout), else fetched from GitHub. Nothing of them is kept here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.model_behind_tls import ModelBehindTls

from benchmarks.openevolve_examples import run

SOURCE = "https://github.com/algorithmicsuperintelligence/openevolve"
DATASETS = '''
"""Stands in for the package `datasets`, whose data come from the network: ten reviews."""


class Rows(list):
    def take(self, count):
        return Rows(self[:count])


def load_dataset(name, *more, **settings):
    return Rows({"text": f"review {i}", "label": i % 2} for i in range(10))
'''


@pytest.fixture(scope="module")
def openevolve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    given = os.environ.get("OPENEVOLVE")
    if given:
        yield Path(given)
        return
    folder = tmp_path_factory.mktemp("openevolve")
    try:
        words = ["git", "clone", "-q", "--depth=1", SOURCE, str(folder)]
        subprocess.run(words, check=True, capture_output=True, timeout=120)
    except (OSError, subprocess.SubprocessError):
        pytest.skip(f"{SOURCE} cannot be fetched here; name a checkout in OPENEVOLVE")
    yield folder


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("function_minimization", 0.9, 1.6),
        ("circle_packing", 0.35, 0.37),
        ("k_module_problem", 0.0, 1.0),
        ("signal_processing", 0.0, 1.0),
    ],
)
def test_an_example_in_python(openevolve: Path, name: str, low: float, high: float):
    row = run(openevolve / "examples" / name, name)
    assert row.score is not None, row.said
    assert low <= row.score <= high and row.candidates == 2, row


def test_rust(openevolve: Path, tmp_path: Path):
    """With the crates that its Cargo.lock names fetched beforehand: there is no network in the sandbox."""
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.skip("no Rust compiler here")
    folder = openevolve / "examples/rust_adaptive_sort"
    homes = [
        Path(os.environ.get(name, Path.home() / usual))
        for name, usual in (("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup"))
    ]
    copy = shutil.copytree(folder / "sort_test", tmp_path / "sort_test")
    fetched = subprocess.run([cargo, "fetch", "-q"], cwd=copy, capture_output=True, text=True, check=False)
    if fetched.returncode:
        pytest.skip(f"its crates cannot be fetched, or this compiler is too old: {fetched.stderr[-200:]}")
    paths = ",".join(str(home) for home in homes if home.is_dir())
    more = ["--problem.metric=score"] + ([f"--execution.paths=[{paths}]"] if paths else [])
    row = run(folder, "rust_adaptive_sort", *more, seconds=600)
    assert row.score is not None and row.score > 0 and row.source == "unisolated", row
    assert row.candidates == 2 and "initial_program.rs" in row.said


def test_a_prompt_that_is_judged_by_a_model(openevolve: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The evaluator asks Gemini at the address that its config.yaml names: here that is a scripted one."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the scripted model's certificate")
    (tmp_path / "datasets.py").write_text(DATASETS)
    model = ModelBehindTls("generativelanguage.googleapis.com", "1", tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("OPENEVOLVE_PROMPT", "initial_prompt.txt")
    for name, value in model.environment.items():
        monkeypatch.setenv(name, value)
    name = "llm_prompt_optimization"
    try:
        row = run(openevolve / "examples" / name, name, "--problem.options.isolation=apart")
    finally:
        model.close()
    assert model.asked and model.asked[0]["model"] == "gemini-2.5-flash-lite"
    assert "review 0" in str(model.asked[0]["messages"])
    assert row.score is not None and row.source == "verified", row
