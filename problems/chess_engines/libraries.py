"""Which board libraries chess candidates find where they run."""

from __future__ import annotations

import importlib.util
import subprocess

from utils.errors import ConfigError

_NAMES = ("rust_chess", "chess")
"""`chess` is python-chess (GPL): candidates may import it where the user has installed it; we never do."""
_ASK = "import importlib.util as u, sys; print(*[n for n in sys.argv[1:] if u.find_spec(n)])"
_SECONDS = 60.0


def board_libraries(python: str | None) -> tuple[str, ...]:
    """The libraries that are installed, `rust_chess` first.

    Args:
        python: interpreter of the candidates (`execution.python`), None for our own.
    Raises:
        ConfigError: it cannot be started, or has no rust-chess, on which the Position that engines are handed stands.
    """
    if python is None:
        return tuple(name for name in _NAMES if importlib.util.find_spec(name))
    try:
        asked = subprocess.run(
            [python, "-I", "-c", _ASK, *_NAMES], capture_output=True, text=True, timeout=_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ConfigError(f"execution.python={python}: it cannot be asked for its libraries: {error}") from error
    found = tuple(asked.stdout.split())
    if "rust_chess" not in found:
        raise ConfigError(
            f"execution.python={python}: chess needs rust-chess there ({python} -m pip install rust-chess)"
        )
    return found
