"""A server that is started on a guess: taken by a run that asks for the same, ended otherwise."""

from __future__ import annotations

import json
import os
from contextlib import closing
from dataclasses import replace

import pytest

from core.executor import sandbox as sandboxes
from core.executor.early import GUESS, LAST, EarlyServer
from core.executor.probe import CACHE, _read_cache, choose
from core.executor.sandbox import open_sandbox
from core.executor.server import ServerConfig, own_python
from utils.errors import NoSandboxError


def remember(config, about=LAST):
    with closing(EarlyServer(config.state_dir, about)) as early:
        early.remember(config)


@pytest.fixture
def config(tmp_path) -> ServerConfig:
    return ServerConfig("none", own_python(), ("math", "decimal"), tmp_path, hide=("answers/*",))


def test_who_asks_for_the_same_takes_it(config, tmp_path):
    remember(config)
    with closing(EarlyServer(tmp_path)) as early:
        server = early.take(config)
        assert server is not None and server.config == replace(config, state_dir=server.config.state_dir)
        assert server.config.state_dir.parent == tmp_path and early.take(config) is None
    assert server.ready().missing == {}  # it goes on when the guess is over
    server.close()


@pytest.mark.parametrize(
    "other", [{"tier": "lite"}, {"preload": ("math",)}, {"hide": ()}, {"python": "/usr/bin/other"}, {"show": ("/opt",)}]
)
def test_who_asks_for_anything_else_does_not_and_nothing_is_left(config, other, tmp_path):
    remember(config)
    with closing(EarlyServer(tmp_path)) as early:
        assert early.take(replace(config, **other)) is None
    assert [path.name for path in tmp_path.iterdir()] == [GUESS]


@pytest.mark.parametrize(
    "special",
    [
        {"preload": ("math", "/home/me/evaluator.py")},
        {"python": "/usr/bin/other"},
        {"show": ("/opt/rust",)},
        {"environment": (("PATH", "/opt/rust/bin"),)},
    ],
)
def test_only_what_is_plain_is_remembered(config, special, tmp_path):
    remember(replace(config, **special))
    assert not (tmp_path / GUESS).exists()


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"*": 3}', '{"*": {"tier": "warm", "preload": 3, "hide": []}}', "\x00", "[" * 200_000]
)
def test_what_cannot_be_read_is_no_guess(config, text, tmp_path):
    (tmp_path / GUESS).write_text(text)
    with closing(EarlyServer(tmp_path)) as early:
        assert early.take(config) is None
    assert [path.name for path in tmp_path.iterdir()] == [GUESS]


@pytest.mark.parametrize("preload", ["{folder}/evil.py", "evil.py", "/proc/self/cwd/evil.py", "a b"])
def test_a_file_that_somebody_wrote_runs_no_code_of_a_folder(config, preload, tmp_path, monkeypatch):
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    remember(config)
    told = json.loads((tmp_path / GUESS).read_text())
    told["guesses"][LAST]["preload"] = [preload.format(folder=tmp_path)]
    (tmp_path / GUESS).write_text(json.dumps(told))
    with closing(EarlyServer(tmp_path)) as early:
        assert early._server is None
    assert not (tmp_path / "ran").exists()


def test_a_folder_that_comes_from_elsewhere_has_no_guess(config, tmp_path):
    remember(config)
    told = json.loads((tmp_path / GUESS).read_text())
    (tmp_path / GUESS).write_text(json.dumps({**told, "boot": "another machine's"}))
    with closing(EarlyServer(tmp_path)) as early:
        assert early._server is None


@pytest.mark.parametrize("name", [GUESS, CACHE])
def test_what_is_no_file_is_neither_waited_for_nor_read_for_ever(config, name, tmp_path):
    os.mkfifo(tmp_path / name)
    with closing(EarlyServer(tmp_path)) as early:
        assert early._server is None
    assert _read_cache(tmp_path / name) == {}
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to("/dev/zero")
    with closing(EarlyServer(tmp_path)) as early:
        assert early._server is None
    assert _read_cache(tmp_path / name) == {}


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_what_another_user_wrote_is_no_guess(config, tmp_path):
    remember(config)
    os.chown(tmp_path / GUESS, 12345, 12345)
    with closing(EarlyServer(tmp_path)) as early:
        assert early.take(config) is None


def test_a_sandbox_remembers_what_it_was_opened_with(tmp_path):
    with closing(EarlyServer(tmp_path)) as early:
        open_sandbox("auto", preload=("math",), hide=("x/*",), state_dir=tmp_path, early=early).close()
    told = json.loads((tmp_path / GUESS).read_text())["guesses"]
    tier = choose("auto", python=None, gpus=0, state_dir=tmp_path)
    assert told == {LAST: {"tier": tier, "preload": ["math"], "hide": ["x/*"]}}


def test_words_that_were_used_before_get_what_they_asked_for_and_others_the_last(config, tmp_path):
    other = replace(config, preload=("json",))
    remember(config, "--problem tsp")
    remember(other, "--problem script")
    for about, wanted in (
        ("--problem tsp", config),
        ("--problem script", other),
        ("--problem x", other),
        (LAST, other),
    ):
        with closing(EarlyServer(tmp_path, about)) as early:
            server = early.take(wanted)
            assert server is not None, about
            server.close()


def test_the_newest_words_are_remembered(config, tmp_path):
    for number in range(20):
        remember(replace(config, preload=(f"m{number}",)), f"--problem {number}")
    told = json.loads((tmp_path / GUESS).read_text())["guesses"]
    assert list(told) == [*(f"--problem {n}" for n in range(4, 20)), LAST]


# ------------------------------------------------------------ imports beside the proof


def test_imports_go_on_while_the_tier_is_attacked(tmp_path, monkeypatch):
    begun = []
    original = sandboxes.make_sandbox

    def made(*args):
        begun.append("server")
        return original(*args)

    monkeypatch.setattr(sandboxes, "make_sandbox", made)
    monkeypatch.setattr(sandboxes, "choose", lambda *_, **__: begun.append("proof") or "warm")
    open_sandbox("auto", state_dir=tmp_path).close()
    assert begun == ["server", "proof"]


def test_another_tier_than_the_likely_one_gets_a_server_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(sandboxes, "choose", lambda *_, **__: "lite")
    with closing(open_sandbox("auto", state_dir=tmp_path)) as sandbox:
        assert sandbox.tier == "lite" and len(list(tmp_path.glob("sandbox-*"))) == 1


def test_where_nothing_holds_nothing_is_left(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise NoSandboxError("no sandbox holds here")

    monkeypatch.setattr(sandboxes, "choose", refuse)
    with pytest.raises(NoSandboxError):
        open_sandbox("auto", state_dir=tmp_path)
    assert list(tmp_path.iterdir()) == []
