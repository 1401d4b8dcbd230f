"""Modal with the SDK replaced at its seam: calls, limits of our own, and what is said without it."""

from __future__ import annotations

import sys
import threading
import time
import types
from contextlib import contextmanager

import pytest

from core.contracts import JobSpec
from core.workers import modal
from core.workers.pool import JobPool
from core.workers.remote import RemoteJobs
from utils.errors import ConfigError, JobLost

EMPTY_ZIP = b"PK\x05\x06" + b"\0" * 18


class Call:
    def __init__(self, work) -> None:
        self.cancelled = False
        self.box: list = []
        self.thread = threading.Thread(target=lambda: self.box.append(work()), daemon=True)
        self.thread.start()

    def get(self, timeout=None):
        self.thread.join(timeout)
        if not self.box:
            raise TimeoutError
        if isinstance(self.box[0], Exception):
            raise self.box[0]
        return self.box[0]

    def cancel(self, terminate_containers=False):
        self.cancelled = terminate_containers


def fake_sdk(monkeypatch, body, enter=lambda: None):
    """A module `modal` with the few names that are used."""
    calls: list[Call] = []
    settings: dict = {}

    class Image:
        @classmethod
        def debian_slim(cls):
            return cls()

        def pip_install(self, *names):
            settings["pip"] = names
            return self

        def add_local_dir(self, path, where):
            settings.setdefault("dirs", []).append(where)
            return self

    class Function:
        def spawn(self, *arguments):
            calls.append(Call(lambda: body(*arguments)))
            return calls[-1]

    class App:
        def __init__(self, name):
            pass

        def function(self, **more):
            settings.update(more)
            return lambda f: Function()

        @contextmanager
        def run(self):
            enter()
            yield self

    module = types.ModuleType("modal")
    module.App, module.Image = App, Image
    monkeypatch.setitem(sys.modules, "modal", module)
    return calls, settings


def test_jobs_go_through_the_function_and_nothing_is_retried_by_the_engine(monkeypatch):
    calls, settings = fake_sdk(monkeypatch, lambda spec, inputs, sandbox: ('{"value": 7}', EMPTY_ZIP))
    cloud = modal.ModalCloud({"containers": 2}, {"choice": "auto", "preload": ("math",)})
    pool = JobPool(RemoteJobs(cloud.open_worker, cloud.slots))
    assert pool.map([JobSpec(entry="a:b", payload={"n": i}) for i in range(5)]) == [7] * 5
    assert len(calls) == 5
    assert settings["retries"] == 0 and settings["min_containers"] == 2
    assert settings["dirs"] == ["/root/core", "/root/utils", "/root/agents", "/root/problems"]
    pool.close()
    cloud.close()


def test_an_error_of_the_sdk_is_a_lost_job(monkeypatch):
    fake_sdk(monkeypatch, lambda *_: RuntimeError("rate limited"))
    cloud = modal.ModalCloud({}, {})
    runner = RemoteJobs(cloud.open_worker, 1)
    runner.submit(JobSpec(entry="a:b", payload={}))
    result = runner.next(timeout=60)
    assert result is not None and result.lost and "rate limited" in result.error
    runner.close()


def test_a_network_that_does_not_answer_costs_our_own_timeout(monkeypatch):
    monkeypatch.setattr(modal, "CONNECT_SECONDS", 0.2)
    network = threading.Event()
    fake_sdk(monkeypatch, lambda *_: None, enter=lambda: network.wait(60))
    started = time.monotonic()
    with pytest.raises(JobLost, match=r"0\.2 s"):
        modal.ModalCloud({}, {})
    assert time.monotonic() - started < 30
    network.set()


def test_missing_credentials_are_said_at_once(monkeypatch):
    class AuthError(Exception):
        pass

    def refuse():
        raise AuthError("Token missing")

    fake_sdk(monkeypatch, lambda *_: None, enter=refuse)
    with pytest.raises(AuthError):
        modal.ModalCloud({}, {})


def test_without_the_sdk_one_line_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "modal", None)
    with pytest.raises(ConfigError, match=r"\[modal\]"):
        modal.ModalCloud({}, {})
