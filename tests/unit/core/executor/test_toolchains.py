"""Toolchains in home folders: programs run them, cannot change them, and see no login that lies beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.contracts import Limits
from core.executor.sandbox import open_sandbox
from core.executor.toolchains import found_here, search_path, toolchains_of
from utils.errors import ConfigError, NoSandboxError


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    for path, text in {
        ".cargo/bin/rustc": "#!/bin/sh\necho compiled by $RUSTUP_HOME\n", ".rustup/settings.toml": "x\n",
        ".cargo/credentials.toml": "token\n", ".cargo/bin/credentials": "token\n", "secret": "token\n",
        ".nvm/versions/node/v1/bin/node": "#!/bin/sh\necho node\n",
    }.items():  # fmt: skip
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text)
        (home / path).chmod(0o755)
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.mark.parametrize("tier", ["warm", "lite"])
def test_programs_use_them_and_nothing_beside_them(home: Path, tmp_path: Path, tier: str):
    try:
        paths = [f"{home}/.cargo/bin", f"{home}/.rustup"]
        sandbox = open_sandbox(tier, state_dir=tmp_path / "state", paths=paths)
    except NoSandboxError as error:
        pytest.skip(str(error))
    workspace = tmp_path / "workspace"
    workspace.mkdir()

    def run(command: str) -> str:
        argv = ["/bin/sh", "-c", f"{command} 2>&1; true"]
        return sandbox.command(argv, workspace=workspace, limits=Limits(seconds=20)).term_out

    try:
        assert run("rustc") == f"compiled by {home}/.rustup\n"
        for hidden in (".cargo/credentials.toml", ".cargo/bin/credentials", "secret"):
            assert "token" not in run(f"cat {home}/{hidden}")
        run(f"echo changed > {home}/.cargo/bin/rustc; echo x > {home}/.rustup/new")
        assert (home / ".cargo/bin/rustc").read_text().startswith("#!/bin/sh\necho compiled")
        assert not (home / ".rustup/new").exists()
    finally:
        sandbox.close()


def test_those_of_this_machine_are_found(home: Path):
    found = found_here()
    assert found["Rust"] == [f"{home}/.cargo/bin", f"{home}/.rustup"]
    assert found["Node"] == [f"{home}/.nvm/versions/node/v1"]
    assert dict(toolchains_of(found["Node"]).environment)["PATH"] == f"{home}/.nvm/versions/node/v1/bin"


@pytest.mark.parametrize(("bins", "python", "found"), [
    ("", "/usr/bin/python3", ""), ("", "/opt/mine/bin/python3", "/opt/mine/bin:"),
    ("/opt/rust/bin", "/opt/mine/bin/python", "/opt/rust/bin:/opt/mine/bin:"),
])  # fmt: skip
def test_commands_are_sought_beside_the_interpreter(bins: str, python: str, found: str):
    assert search_path(bins, python) == f"{found}/usr/local/bin:/usr/bin:/bin"


@pytest.mark.parametrize("path", ["~", "/", "~/..", "~/none", "~/secret"])
def test_a_home_is_no_toolchain(home: Path, path: str):
    with pytest.raises(ConfigError, match=r"execution\.paths="):
        toolchains_of([path])
