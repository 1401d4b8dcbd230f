"""Reads a configuration in the seed's form (FunSearch-Lite): flat keys and a list of providers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from utils.errors import ConfigError
from utils.registry import nearest

MARKERS = frozenset({"run_id", "task_name", "llm_providers", "generator_provider_id", "top_k_for_full_eval"})
"""Top-level keys that only a seed-style file has."""
CAPACITIES = {100: "weibull_5k", 150: "u500"}
PROVIDERS = {
    "fake": {"provider": "rules"},
    "openai": {"provider": "openai"},
    "deepseek": {"provider": "openai", "base_url": "https://api.deepseek.com", "api_key": "${env:DEEPSEEK_API_KEY}"},
    "anthropic": {"provider": "anthropic"},
    "gemini": {"provider": "gemini"},
}
_SEARCH = {
    "max_generations": "search.max_generations",
    "population_size": "search.islands.population_size",
    "num_islands": "search.islands.num_islands",
    "top_k_for_full_eval": "search.top_k_for_full_eval",
    "migration_interval": "search.islands.migration_interval",
}
_OF_MODELS = {
    "model_name": "model", "base_url": "base_url", "api_key": "api_key", "temperature": "temperature",
    "max_tokens": "max_tokens", "timeout_seconds": "timeout",
}  # fmt: skip
"""Key of one of `llm_providers` → key of `llm.code`."""
_OF_PROVIDERS = ("provider_id", "provider_type", *_OF_MODELS, "max_retries")
_IGNORED = frozenset({"save_interval", "task_name"})


def is_seed_style(plain: Mapping[str, Any]) -> bool:
    """True for a file of the seed's form."""
    return bool(MARKERS & set(plain))


def translate(plain: Mapping[str, Any]) -> dict[str, Any]:
    """The same configuration with our keys; the mapping is documented in `config/problem/bin_packing.yaml`.

    Raises:
        ConfigError: an unknown key, or a value that has no counterpart.
    """
    task = plain.get("task_name", "bin_packing")
    if task != "bin_packing":
        raise ConfigError(f"task_name={task}: only bin_packing has a seed-style configuration")
    ours: dict[str, Any] = {"presets": {"problem": "bin_packing"}}
    for key, value in plain.items():
        if key in _IGNORED:
            continue
        if key in _SEARCH:
            _put(ours, _SEARCH[key], value)
        elif key in _KEYS:
            _KEYS[key](ours, value, plain)
        else:
            raise ConfigError(f"unknown key '{key}' in a seed-style file; allowed: {', '.join(sorted(_allowed()))}")
    _providers(ours, plain)
    return ours


def _run_id(ours: dict[str, Any], value: Any, _: Mapping[str, Any]) -> None:
    _put(ours, "project.name", str(value))


def _seed(ours: dict[str, Any], value: Any, _: Mapping[str, Any]) -> None:
    _put(ours, "project.seed", value)


def _folder(ours: dict[str, Any], value: Any, _: Mapping[str, Any]) -> None:
    _put(ours, "project.dir", str(value))


def _per_generation(ours: dict[str, Any], value: Any, plain: Mapping[str, Any]) -> None:
    islands = _whole("num_islands", plain.get("num_islands", 3), 1)
    each = max(1, _whole("candidates_per_generation", value, 1) // islands)
    _put(ours, "search.islands.per_island", each)
    _put(ours, "search.batch", each * islands)


def _evaluator(ours: dict[str, Any], value: Any, _: Mapping[str, Any]) -> None:
    if not isinstance(value, Mapping):
        raise ConfigError(f"evaluator={value!r}: must be a mapping with capacity, seed, dataset")
    for key in value:
        if key not in ("capacity", "seed", "dataset", "dataset_path"):
            raise ConfigError(f"unknown key 'evaluator.{key}'; allowed: capacity, seed, dataset, dataset_path")
    file = value.get("dataset_path") or value.get("dataset")
    if "seed" in value and not (file and Path(str(file)).exists()):  # nothing is drawn where there is a file
        _put(ours, "problem.options.data_seed", value["seed"])
    if "dataset_path" in value or "dataset" in value:
        _put(ours, "problem.name", str(value.get("dataset_path") or value["dataset"]))
    elif "capacity" in value:
        if not isinstance(value["capacity"], int) or value["capacity"] not in CAPACITIES:
            known = ", ".join(f"{capacity} ({name})" for capacity, name in CAPACITIES.items())
            raise ConfigError(
                f"evaluator.capacity={value['capacity']}: allowed: {known}, or a file as evaluator.dataset"
            )
        _put(ours, "problem.name", CAPACITIES[value["capacity"]])


def _nothing(ours: dict[str, Any], value: Any, _: Mapping[str, Any]) -> None:
    """Handled with the providers."""


_KEYS: dict[str, Callable[[dict[str, Any], Any, Mapping[str, Any]], None]] = {
    "run_id": _run_id,
    "seed": _seed,
    "artifact_dir": _folder,
    "candidates_per_generation": _per_generation,
    "evaluator": _evaluator,
    "llm_providers": _nothing,
    "generator_provider_id": _nothing,
    "refiner_provider_id": _nothing,
}


def _allowed() -> set[str]:
    return {*_KEYS, *_SEARCH, *_IGNORED}


def _providers(ours: dict[str, Any], plain: Mapping[str, Any]) -> None:
    """`llm.code` from the generator, `llm.refine` from the refiner where that is another."""
    listed = plain.get("llm_providers") or []
    if not isinstance(listed, list) or not all(isinstance(one, Mapping) for one in listed):
        raise ConfigError(f"llm_providers={str(listed)[:80]!r}: must be a list of mappings with provider_id, …")
    if not listed:
        return
    if word := next((key for one in listed for key in one if key not in _OF_PROVIDERS), None):
        near = nearest(str(word), _OF_PROVIDERS)
        raise ConfigError(f"unknown key 'llm_providers.{word}'{near}; allowed: {', '.join(_OF_PROVIDERS)}")
    known = {str(one.get("provider_id")): one for one in listed}
    generator = str(plain.get("generator_provider_id") or next(iter(known)))
    refiner = str(plain.get("refiner_provider_id") or generator)
    for key, name in (("generator_provider_id", generator), ("refiner_provider_id", refiner)):
        if name not in known:
            raise ConfigError(f"{key}={name}: not among llm_providers; allowed: {', '.join(known)}")
    _put(ours, "llm.code", _model(known[generator]))
    if refiner != generator:
        _put(ours, "llm.refine", _model(known[refiner]))
        _put(ours, "search.islands.refine_interval", 1)


def _model(one: Mapping[str, Any]) -> dict[str, Any]:
    kind = str(one.get("provider_type", "fake"))
    if kind not in PROVIDERS:
        raise ConfigError(f"llm_providers.provider_type={kind}: allowed: {', '.join(PROVIDERS)}")
    model: dict[str, Any] = {**PROVIDERS[kind]}
    for theirs, mine in _OF_MODELS.items():
        if one.get(theirs) is not None:
            model[mine] = one[theirs]
    if one.get("max_retries") is not None:
        model["attempts"] = _whole("llm_providers.max_retries", one["max_retries"], 0) + 1
    if model["provider"] == "rules":
        return {"provider": "rules", "model": "rules"}
    return model


def _whole(key: str, value: Any, least: int) -> int:
    if type(value) is not int or value < least:
        raise ConfigError(f"{key}={value!r}: must be a whole number of at least {least}")
    return value


def _put(ours: dict[str, Any], dotted: str, value: Any) -> None:
    *path, last = dotted.split(".")
    for part in path:
        ours = ours.setdefault(part, {})
    ours[last] = value
