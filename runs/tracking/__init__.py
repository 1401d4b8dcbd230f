"""Trackers: what a run tells to other programs while it goes on, by open formats. A file a tracker, named here."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from core.backend.network import is_address, shown_url
from runs.facts import RunFacts
from runs.tracking.background import BackgroundSink
from utils.config_schema import Config
from utils.errors import ConfigError
from utils.extras import install_line

TRACKERS = {
    "tracking.otel": ("runs.tracking.otel", "OtelTracker", "opentelemetry.exporter.otlp", "otel"),
    "tracking.mlflow": ("runs.tracking.mlflow", "MlflowTracker", "mlflow", "mlflow"),
    "notify.command": ("runs.tracking.notify", "CommandNotifier", "", ""),
    "notify.url": ("runs.tracking.notify", "UrlNotifier", "", ""),
}
"""Key → its module, its class, the package that it needs and the extra that brings it."""


def trackers_of(config: Config) -> dict[str, str]:
    """Key → value of the trackers that a configuration names.

    Raises:
        ConfigError: one needs a package that is not installed.
    """
    values = {"tracking.otel": config.tracking.otel, "tracking.mlflow": config.tracking.mlflow,
              "notify.command": config.notify.command,
              "notify.url": config.notify.url and config.notify.url.get_secret_value()}  # fmt: skip
    wanted = {key: value for key, value in values.items() if value}
    for key in wanted:
        _, _, package, extra = TRACKERS[key]
        if package and not _is_there(package):
            raise ConfigError(f"{key} needs a package that is not installed: {install_line(extra)}")
        if key in ("tracking.otel", "notify.url") and not is_address(wanted[key]):
            told = f"{key}={shown_url(wanted[key])}" if key == "tracking.otel" else key  # the other is a secret
            raise ConfigError(f"{told}: an address that begins with http:// or https:// and names a host is needed")
    return wanted


def open_trackers(facts: RunFacts) -> list[BackgroundSink]:
    """A sink for each tracker of the run; none of them can slow the search or end it."""
    found = trackers_of(facts.config)
    return [BackgroundSink(key, getattr(import_module(TRACKERS[key][0]), TRACKERS[key][1]), facts) for key in found]


def _is_there(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False
