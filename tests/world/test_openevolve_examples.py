"""OpenEvolve's own examples, unmodified: those that need another language, a folder or a configuration, by one command.

They are looked for where `OPENEVOLVE` says (a checkout), else fetched from GitHub. Nothing of them is kept here.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.model_behind_tls import ModelBehindTls

from benchmarks.openevolve_examples import run
from core.executor.toolchains import found_here

SOURCE = "https://github.com/algorithmicsuperintelligence/openevolve"
DATASETS = '''
"""Stands in for the package `datasets`, whose data come from the network: ten reviews."""


class Rows(list):
    def take(self, count):
        return Rows(self[:count])


def load_dataset(name, *more, **settings):
    return Rows({"text": f"review {i}", "label": i % 2} for i in range(10))
'''
RAND = """
//! Stands in for the crate `rand` where crates.io cannot be reached: what the example's main.rs uses of it.
pub mod prelude {}
pub struct Words(u64);
pub fn rng() -> Words { Words(0x9E3779B97F4A7C15) }
pub trait Drawn { fn drawn(word: u64) -> Self; }
impl Drawn for i32 { fn drawn(word: u64) -> Self { (word >> 32) as i32 } }
impl Drawn for u64 { fn drawn(word: u64) -> Self { word } }
impl Words {
    pub fn random<T: Drawn>(&mut self) -> T {
        self.0 ^= self.0 << 13; self.0 ^= self.0 >> 7; self.0 ^= self.0 << 17;
        T::drawn(self.0)
    }
}
"""


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
        ("alphaevolve_math_problems/heilbronn_convex/13", 0.0104, 0.0105),
    ],
)
def test_an_example_in_python(openevolve: Path, name: str, low: float, high: float):
    row = run(openevolve / "examples" / name, name)
    assert row.score is not None, row.said
    assert low <= row.score <= high and row.candidates >= 1, row


def test_rust(openevolve: Path, tmp_path: Path):
    """With the crate that its Cargo.lock names fetched beforehand: there is no network in the sandbox."""
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.skip("no Rust compiler here")
    folder = openevolve / "examples/rust_adaptive_sort"
    lock = (folder / "sort_test/Cargo.lock").read_text()
    paths = [_home_with_crate(cargo, folder / "sort_test", lock, tmp_path), *found_here().get("Rust", [])]
    more = ["--problem.metric=score", f"--execution.paths=[{','.join(map(str, paths))}]"]
    row = run(folder, "rust_adaptive_sort", *more, seconds=600)
    assert row.score is not None and row.score > 0 and row.source == "unisolated", row
    assert row.candidates == 2 and "initial_program.rs" in row.said


def _home_with_crate(cargo: str, project: Path, lock: str, folder: Path) -> Path:
    """A CARGO_HOME with what the project needs; without crates.io, with a stand-in of the few words that it uses."""
    home = folder / ".cargo"
    home.mkdir()
    copy = shutil.copytree(project, folder / "sort_test")
    environment = {**os.environ, "CARGO_HOME": str(home)}
    if subprocess.run([cargo, "fetch", "-q"], cwd=copy, env=environment, capture_output=True, check=False).returncode:
        version, checksum = re.findall(r'name = "rand"\nversion = "(.*)"\n.*\nchecksum = "(.*)"', lock)[0]
        crate = home / "vendor/rand"
        (crate / "src").mkdir(parents=True)
        (crate / "src/lib.rs").write_text(RAND)
        (crate / "Cargo.toml").write_text(f'[package]\nname = "rand"\nversion = "{version}"\nedition = "2021"\n')
        (crate / ".cargo-checksum.json").write_text(json.dumps({"files": {}, "package": checksum}))
        sources = f'[source.crates-io]\nreplace-with = "here"\n[source.here]\ndirectory = "{home / "vendor"}"\n'
        (home / "config.toml").write_text(sources)
    (home / "bin").mkdir(exist_ok=True)
    return home


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
