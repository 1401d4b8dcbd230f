"""Chooses which of several models writes the next program: by weight, or by improvement per dollar so far."""

from __future__ import annotations

import random
import threading

from core.backend.settings import ModelSettings
from core.state.task import derive_seed
from utils.bandit import Bandit


class ModelChooser:
    """Chooses among a role's models for one node. All attempts of a node and role go to the same model.

    Draws come from (run seed, node id, role), so that equal runs choose alike whatever thread asks first.
    """

    def __init__(self, run_seed: int) -> None:
        self._run_seed = run_seed
        self._bandit = Bandit()
        self._lock = threading.Lock()
        self._chosen: dict[tuple[str, str], ModelSettings] = {}

    def choose(self, settings: ModelSettings, node_id: str, role: str) -> ModelSettings:
        if not settings.models:
            return settings
        with self._lock:
            if (node_id, role) not in self._chosen:
                self._chosen[node_id, role] = self._draw(settings, node_id, role)
            return self._chosen[node_id, role]

    def reward(self, writer: str, gain: float, cost: float | None) -> None:
        self._bandit.tell(writer, gain, cost)

    def _draw(self, settings: ModelSettings, node_id: str, role: str) -> ModelSettings:
        rng = random.Random(derive_seed(self._run_seed, node_id, role, "model"))
        if settings.choice == "bandit":
            return settings.models[self._bandit.choose([arm.writer for arm in settings.models], rng)]
        return rng.choices(settings.models, [arm.weight for arm in settings.models])[0]
