"""Workers on a Ray cluster: an actor a slot, with a warm sandbox in it.

Ray restarts and retries nothing (`max_restarts=0`, `max_task_retries=0`): that is RemoteJobs' and JobPool's to do. An
actor that is killed takes its sandbox with it, since the fork server dies with its parent (PR_SET_PDEATHSIG).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from core.workers.remote import READY_SECONDS
from core.workers.shipping import Answer, News
from utils.errors import ConfigError, JobLost, SandboxError
from utils.extras import install_line

APP = Path(__file__).resolve().parent.parent.parent
SHIPPED = ("core", "utils", "agents", "problems")
KEEPALIVE = {"RAY_grpc_client_keepalive_time_ms": "5000", "RAY_grpc_client_keepalive_timeout_ms": "5000"}
"""A cut link is noticed in seconds; by default it can take minutes. Set it where `ray start` runs as well."""
_LEAVE_SECONDS = 10.0
"""So long at most the end of a run waits for nodes to tidy up."""


class RayCluster:
    """A connection to a cluster, and the workers on it.

    Args:
        options: `execution.ray`: `address` (None starts a cluster on this machine), `num_cpus` for that one.
        sandbox: keyword arguments of `open_sandbox` for every worker, `state_dir` apart.
    """

    def __init__(
        self, options: Mapping[str, Any], sandbox: Mapping[str, Any], *, cpus: float = 1, gpus: float = 0
    ) -> None:
        try:
            import ray
        except ImportError as error:
            raise ConfigError(
                f"execution.runner=ray: Ray is not installed; install the extra [ray] ({install_line('ray')})"
            ) from error
        for name, value in KEEPALIVE.items():
            os.environ.setdefault(name, value)
        self._ray = ray
        self._sandbox = {name: list(v) if isinstance(v, tuple) else v for name, v in sandbox.items()}
        self._cpus, self._gpus = cpus, gpus
        self._inputs: dict[str, Any] = {}
        known = {key: value for key, value in options.items() if key in ("address", "num_cpus", "namespace") and value}
        known.setdefault("address", "local")  # else Ray would look for a cluster that somebody runs here
        ray.init(
            log_to_driver=False,
            logging_level="ERROR",
            include_dashboard=False,
            runtime_env={"py_modules": [str(APP / name) for name in SHIPPED]},
            **known,
        )
        self._check_room()

    def tier(self) -> str:
        """The sandbox's tier on a worker there, by its probe. Raises JobLost if none is ready in good time."""
        worker, ends = self.open_worker(), time.monotonic() + READY_SECONDS
        try:
            while not worker.ready(1.0):
                if time.monotonic() > ends:
                    raise JobLost(f"no Ray worker was ready within {READY_SECONDS:g} s")
        finally:
            worker.kill()
        return worker.tier

    def open_worker(self) -> RayWorker:
        """A worker with a sandbox, placed as soon as a node has room for it, be it added later."""
        actor = self._ray.remote(max_restarts=0, max_task_retries=0, num_cpus=self._cpus, num_gpus=self._gpus)(_Host)
        return RayWorker(self._ray, actor.remote(self._sandbox), self._reference)

    def close(self) -> None:
        """End it. What dead workers left on the nodes goes."""
        try:
            leaving = self._leaving()
            self._ray.wait(leaving, num_returns=len(leaving), timeout=_LEAVE_SECONDS)
        finally:
            self._ray.shutdown()

    def _leaving(self) -> list[Any]:
        """A task on each node that tidies up there."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        leave = self._ray.remote(num_cpus=0, max_retries=0)(_leave)
        nodes = (node["NodeID"] for node in self._ray.nodes() if node["Alive"])
        places = (NodeAffinitySchedulingStrategy(node, soft=False) for node in nodes)
        return [leave.options(scheduling_strategy=place).remote() for place in places]

    def _reference(self, inputs: tuple[str, bytes]) -> Any:
        """Inputs go to the object store once; each node fetches them once. An array is read there without a copy."""
        if inputs[0] not in self._inputs:
            import numpy as np

            self._inputs[inputs[0]] = self._ray.put(np.frombuffer(inputs[1], np.uint8))
        return self._inputs[inputs[0]]

    def _check_room(self) -> None:
        """A request that no node can meet fails now; Ray would let it wait for ever."""
        for name, wanted in (("CPU", self._cpus), ("GPU", self._gpus)):
            most = max((node["Resources"].get(name, 0) for node in self._ray.nodes() if node["Alive"]), default=0)
            if wanted > most:
                self._ray.shutdown()
                raise ConfigError(
                    f"execution.runner=ray: a worker needs {wanted:g} {name}, the largest node has {most:g}"
                )


class RayWorker:
    """Implements `RemoteWorker`."""

    def __init__(self, ray: Any, handle: Any, reference: Any) -> None:
        self.tier = ""
        """Known once it was ready."""
        self._ray, self._handle, self._reference = ray, handle, reference
        self._asked: Any = None
        self._pending: Any = None

    def ready(self, timeout: float) -> bool:
        self._asked = self._asked or self._handle.tier.remote()
        if not self._ray.wait([self._asked], timeout=timeout)[0]:
            return False
        asked, self._asked = self._asked, None
        try:
            self.tier = self._found(asked)
        except self._ray.exceptions.RayTaskError as error:
            raise SandboxError(f"no sandbox on a Ray worker: {error.cause}") from error
        return True

    def submit(self, spec: str, inputs: tuple[str, bytes] | None) -> None:
        named = (inputs[0], [self._reference(inputs)]) if inputs else None  # in a list, Ray leaves it a reference
        self._pending = self._handle.serve.options(num_returns="streaming").remote(spec, named)

    def poll(self, timeout: float) -> Answer | News | None:
        ready, _ = self._ray.wait([self._pending], timeout=timeout)
        heard: Answer | News | None = self._found(next(self._pending)) if ready else None
        return heard

    def _found(self, reference: Any) -> Any:
        try:
            return self._ray.get(reference)
        except (self._ray.exceptions.RayActorError, self._ray.exceptions.ObjectLostError) as error:
            raise JobLost(f"a Ray worker was lost: {type(error).__name__}") from error

    def kill(self) -> None:
        self._ray.kill(self._handle, no_restart=True)


class _Host:
    """The actor: runs in a worker process of the cluster."""

    def __init__(self, sandbox: Mapping[str, Any]) -> None:
        from core.executor.sandbox import open_sandbox
        from core.workers.node_folder import NodeFolder

        self._node = NodeFolder.of_user()
        self._state = self._node.worker(_session())
        self._sandbox = open_sandbox(**{**sandbox, "state_dir": self._state})

    def tier(self) -> str:
        return self._sandbox.tier

    def serve(self, spec: str, inputs: tuple[str, list[Any]] | None) -> Iterator[Answer | News]:
        import ray

        from core.workers.shipping import serve

        folder = self._node.inputs(inputs[0], lambda: memoryview(ray.get(inputs[1][0]))) if inputs else None
        yield from serve(spec, folder, self._sandbox, self._state)


def _session() -> str:
    """A name of the connection that this process works for."""
    import ray

    return str(ray.get_runtime_context().get_job_id())


def _leave() -> None:
    """On a node whose workers were killed."""
    from core.workers.node_folder import NodeFolder

    NodeFolder.of_user().leave(_session())
