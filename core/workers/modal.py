"""Workers on Modal: a function in a container, called with bytes. Containers are warmed while programs are written.

Not tried on Modal itself: the tests replace the SDK at its seam. Which sandbox tier holds in a Modal container is found
out there, by the same probe as anywhere.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from core.workers.shipping import Answer, News
from utils.errors import ConfigError, JobLost
from utils.extras import install_line

APP = Path(__file__).resolve().parent.parent.parent
SHIPPED = ("core", "utils", "agents", "problems")
CONNECT_SECONDS = 15.0
"""The SDK by itself waits a minute on a bad network; without credentials it says so at once."""


class ModalCloud:
    """An app with one function, alive while the run is.

    Args:
        options: `execution.modal`: `image` (pip requirements), `containers` kept warm, `cpu`, `memory`, `gpu`.
        sandbox: keyword arguments of `open_sandbox` for every container, `state_dir` apart.
    Raises:
        ConfigError: the SDK is not installed.
        Exception: whatever the SDK raises; FallbackJobs goes on locally.
    """

    def __init__(self, options: Mapping[str, Any], sandbox: Mapping[str, Any], *, seconds: float = 3600) -> None:
        try:
            import modal
        except ImportError as error:
            raise ConfigError(
                f"execution.runner=modal: no SDK; install the extra [modal] ({install_line('modal')})"
            ) from error
        self._modal = modal
        self._sandbox = {name: list(v) if isinstance(v, tuple) else v for name, v in sandbox.items()}
        self.slots = int(options.get("containers", 4))
        image = modal.Image.debian_slim().pip_install(*options.get("image", _REQUIREMENTS))
        for name in SHIPPED:
            image = image.add_local_dir(str(APP / name), f"/root/{name}")
        app = modal.App("swarm-evo")
        settings = {key: options[key] for key in ("cpu", "memory", "gpu") if key in options}
        self._function = app.function(
            image=image, timeout=int(seconds), min_containers=self.slots, retries=0, serialized=True, **settings
        )(serve_in_container)
        self._running = app.run()
        within(CONNECT_SECONDS, self._running.__enter__)

    def open_worker(self) -> ModalWorker:
        return ModalWorker(self._modal, self._function, self._sandbox)

    def close(self) -> None:
        within(CONNECT_SECONDS, lambda: self._running.__exit__(None, None, None))


class ModalWorker:
    """Implements `RemoteWorker`: a call of the function; the engine chooses the container."""

    def __init__(self, modal: Any, function: Any, sandbox: Mapping[str, Any]) -> None:
        self._modal, self._function, self._sandbox = modal, function, dict(sandbox)
        self._call: Any = None

    def ready(self, timeout: float) -> bool:
        return True

    def submit(self, spec: str, inputs: tuple[str, bytes] | None) -> None:
        self._call = self._function.spawn(spec, inputs, self._sandbox)

    def poll(self, timeout: float) -> Answer | News | None:
        try:
            text, files = self._call.get(timeout=timeout)
        except TimeoutError:
            return None
        except Exception as error:
            raise JobLost(f"Modal: {type(error).__name__}: {error}") from error
        return Answer(str(text), bytes(files))

    def kill(self) -> None:
        if self._call is not None:
            self._call.cancel(terminate_containers=True)


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """`work()` with a time limit of our own. Raises JobLost when it is over."""
    box: list[Any] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            box.append(work())
        except BaseException as error:  # noqa: BLE001 - handed to the caller below
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True, name="modal-connect")
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise JobLost(f"Modal did not answer within {seconds:g} s")
    if errors:
        raise errors[0]
    return box[0]


def serve_in_container(
    spec: str, inputs: tuple[str, bytes] | None, sandbox: Mapping[str, Any]
) -> tuple[str, bytes]:  # pragma: no cover - runs in a container
    """The function's body. The sandbox is made once a container and kept on the function itself."""
    from core.executor.sandbox import open_sandbox
    from core.workers.node_folder import NodeFolder
    from core.workers.shipping import serve

    kept: dict[str, Any] = serve_in_container.__dict__
    if "sandbox" not in kept:
        kept["node"] = NodeFolder.of_user()
        kept["state"] = kept["node"].worker("container")
        kept["sandbox"] = open_sandbox(**{**sandbox, "state_dir": kept["state"]})
    folder = kept["node"].inputs(inputs[0], lambda: inputs[1]) if inputs else None
    (answer,) = deque(serve(spec, folder, kept["sandbox"], kept["state"]), maxlen=1)  # a call gives no news
    assert isinstance(answer, Answer)
    return answer.text, answer.files


_REQUIREMENTS = ("numpy", "pandas", "scikit-learn", "pydantic", "joblib", "threadpoolctl", "numba", "rust-chess")
