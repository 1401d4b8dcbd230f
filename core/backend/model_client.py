"""ModelClient is made once a run; it gives each role and node its own `query` function for the agents to call."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from math import inf
from typing import Any

from pydantic import SecretStr

from core.backend.bandit import ModelChooser
from core.backend.cache import ReplyCache
from core.backend.call_pipeline import CallPipeline, External, InForce, Notice
from core.backend.exchange import Reply, Request, Usage
from core.backend.ladder import ask
from core.backend.looking import look_first
from core.backend.messages import build_request
from core.backend.partial_reply import Listener
from core.backend.prices import PRICE_DAY, cost_of, usual_tokens
from core.backend.records import CallKey, look_record, reply_of
from core.backend.retry import Retrier
from core.backend.roles import calls_functions
from core.backend.settings import ModelSettings
from core.backend.usage import Ledger
from core.contracts import LOOK, SESSION, WRITING_ROLES, CallLog, CallRecord, RulesWriter, Toolbox
from utils.errors import ConfigError
from utils.logger_system import log_msg


@dataclass(frozen=True, slots=True)
class NodeUsage:
    """What the calls of one node took together. Tokens and dollars are None where only `rules` wrote."""

    writer: str = ""
    """provider/model of the last call of a writing role, or `rules`."""
    calls: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    seconds: float = 0.0
    looks: Mapping[str, int] = field(default_factory=dict)
    """Function → how often a model called it before it wrote."""

    def plus(self, record: CallRecord) -> NodeUsage:
        if record.role == SESSION:  # the reply of its session has counted it
            return self
        writes = record.role in WRITING_ROLES or not self.writer
        return NodeUsage(
            writer=_writer(record) if writes else self.writer,
            calls=self.calls + (record.role != LOOK),
            prompt_tokens=_sum(self.prompt_tokens, record.prompt_tokens),
            completion_tokens=_sum(self.completion_tokens, record.completion_tokens),
            cost_usd=_sum(self.cost_usd, record.cost_usd),
            seconds=self.seconds + record.seconds,
            looks=dict(Counter(self.looks) + Counter([record.tool])) if record.role == LOOK else self.looks,
        )


class ModelClient:
    """The one object through which all of a run's model calls go. Thread-safe.

    Args:
        roles: settings by role (`model_settings`); a role that is not in it takes those of `code`.
        log: the run's own record; every answer is stored there before it is returned.
        ledger: the budget; `ledger.restore(bills)` first when a run is resumed.
        cache: answers of earlier runs; None for none.
        rules: the problem's repertoire, for `provider: rules`.
        run_seed: part of every call's name in the record and of the randomness of `rules`.
        stop: set it to give up waits, retries and calls at once; they raise RunStopped.
        ending: set it to give up waits and retries alone: they raise Interrupted, and what is under way is heard.
        notice: called with (reason, seconds) before each wait for a retry; None writes it into `system.log`.
        offline, may_drift, in_force: for a replay; see CallPipeline.
        external: hands requests of `provider: external` to writers outside of the process.
        listener: hears of streamed replies of nodes while they are written.
        seconds_left: → seconds until the run's time budget ends: nothing is asked after it, and no wait outlives it.
            What is under way then is heard to its end, since it may be paid for.
    """

    def __init__(
        self,
        roles: Mapping[str, ModelSettings],
        *,
        log: CallLog,
        ledger: Ledger | None = None,
        cache: ReplyCache | None = None,
        rules: RulesWriter | None = None,
        run_seed: int = 0,
        stop: threading.Event | None = None,
        notice: Notice | None = None,
        offline: bool = False,
        may_drift: bool = False,
        external: External | None = None,
        listener: Listener | None = None,
        in_force: InForce | None = None,
        seconds_left: Callable[[], float] = lambda: inf,
        ending: threading.Event | None = None,
    ) -> None:
        self.roles = dict(roles)
        self.ledger = ledger or Ledger()
        self.rules = rules
        self._run_seed = run_seed
        self._cache = cache
        self._pipeline = CallPipeline(
            log,
            self.ledger,
            cache,
            rules,
            Retrier(stop or threading.Event(), seconds_left=seconds_left, ending=ending),
            notice or _to_log,
            offline,
            may_drift,
            external,
            listener,
            in_force,
        )
        self._chooser = ModelChooser(run_seed)
        self._lock = threading.Lock()
        self._usage: dict[str, NodeUsage] = {}
        self._seen: set[tuple[str, str]] = set()

    def bind(self, role: str, node_id: str = "") -> BoundQuery:
        """Return the `query` function of one role for one node.

        Of several models one is chosen now, by the rewards so far: not by those of nodes that are committed meanwhile.
        """
        self._chooser.choose(self.settings_of(role), node_id, role)
        return BoundQuery(self, role, node_id)

    def settings_of(self, role: str) -> ModelSettings:
        """Return the settings of a role; a role without settings of its own has those of `code`."""
        return self.roles.get(role) or self.roles["code"]

    def usage_of(self, node_id: str) -> NodeUsage:
        """Return what the node's calls took so far, those found in the record included."""
        with self._lock:
            return self._usage.get(node_id, NodeUsage())

    def recall(self, node_id: str, records: Iterable[CallRecord]) -> None:
        """Count calls of a node that are stored, where what they brought is stored too and none is made again."""
        for record in records:
            self._count(record, node_id)

    def reward(
        self,
        node_id: str,
        improvement: float,
        *,
        writer: str | None = None,
        prompt_tokens: int | None = None,
        completion_tokens: int | None = None,
    ) -> None:
        """Teach the bandit what a committed node was worth.

        Called in journal order, and again for the stored nodes when a run is resumed, so that its choices repeat. What
        was really paid does not count: a cached reply costs nothing, and a rerun must choose the same models.

        Args:
            improvement: gain over the best before it, higher is better; ≤ 0 for none.
            writer: the node's `writer`; None takes the one that this client saw.
            prompt_tokens, completion_tokens: of the node's calls, priced as listed; None for those of a usual call.
        """
        name = writer or self.usage_of(node_id).writer
        arm = next((arm for arm in self.settings_of("code").models if arm.writer == name), None)
        if arm is not None:
            usual = usual_tokens("code", arm)
            tokens = Usage(
                usual.prompt if prompt_tokens is None else prompt_tokens,
                usual.completion if completion_tokens is None else completion_tokens,
            )
            self._chooser.reward(name, improvement, cost_of(arm, tokens, PRICE_DAY))

    def prepare(self) -> None:
        """Begin to load the SDKs of those that write, while other parts of the run are made ready."""
        for settings in self.settings_of("code").alternatives:
            self._pipeline.prepare(settings)

    def close(self) -> None:
        self._pipeline.close()
        if self._cache is not None:
            self._cache.close()

    def _query(
        self,
        request: Request,
        role: str,
        node_id: str,
        attempt: int,
        overrides: Mapping[str, Any],
        toolbox: Toolbox | None,
    ) -> str:
        settings = self.settings_of(role)
        if not _names_model(overrides):
            settings = self._chooser.choose(settings, node_id, role)
        settings = _overridden(settings, overrides)
        key = CallKey(self._run_seed, node_id, role, attempt)

        def exchange(asked: Request, turn: int) -> Reply:
            record = self._pipeline.exchange(asked, settings, key, turn)
            self._count(record, node_id)
            return reply_of(record)

        def answer(name: str, arguments: str, turn: int, run: Callable[[], str]) -> CallRecord:
            record = self._pipeline.look(look_record(key, turn, settings, name, arguments), run)
            self._count(record, node_id)
            return record

        if toolbox is not None and calls_functions(settings):
            return look_first(request, settings, toolbox, exchange, answer)
        return ask(request, settings, exchange)

    def _count(self, record: CallRecord, node_id: str) -> None:
        """Add the call to its node's usage, once however often it is asked."""
        key = (record.request_hash, record.sample)
        with self._lock:
            if key not in self._seen:
                self._seen.add(key)
                self._usage[node_id] = self._usage.get(node_id, NodeUsage()).plus(record)


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """The `query` function of one role and node; see `core.contracts.Query`."""

    model_client: ModelClient
    role: str
    node_id: str = ""

    def __call__(
        self,
        system_message: str | None,
        user_message: str | None,
        *,
        tools: list[dict[str, Any]] | None = None,
        tool_choice: dict[str, Any] | str | None = None,
        context: Mapping[str, Any] | None = None,
        attempt: int = 0,
        role: str = "",
        toolbox: Toolbox | None = None,
        **overrides: Any,
    ) -> str:
        """Ask the model; see `core.contracts.Query`.

        Raises:
            ReplyError: the model answered, but the reply cannot be used, also after repairs.
            BackendAuthError, BackendBusyError, BackendError: it did not answer.
            BudgetExhausted: the call does not fit into the budget, or the time for it is over.
            RunStopped: the client's `stop` event was set. Interrupted: `ending` was, while the call waited.
        """
        request = build_request(system_message, user_message, tools, tool_choice, context)
        return self.model_client._query(request, role or self.role, self.node_id, attempt, overrides, toolbox)

    @property
    def writer(self) -> str:
        """`provider/model` of the role, or `rules`; with several models, the one that answered last."""
        return self.model_client.usage_of(self.node_id).writer or self.model_client.settings_of(self.role).writer


def _to_log(reason: str, seconds: float) -> None:
    log_msg("WARNING", f"{reason}; next try in {seconds:.1f} s")


_OVERRIDES = frozenset(field.name for field in fields(ModelSettings)) - {"role", "models", "choice", "weight"}


def _names_model(overrides: Mapping[str, Any]) -> bool:
    """True where a call says whom it asks: then nobody chooses."""
    return any(overrides.get(name) is not None for name in ("model", "provider"))


def _overridden(settings: ModelSettings, overrides: Mapping[str, Any]) -> ModelSettings:
    if not overrides:
        return settings
    unknown = sorted(set(overrides) - _OVERRIDES)
    if unknown:
        raise ConfigError(f"query() does not know {', '.join(unknown)}; allowed: {', '.join(sorted(_OVERRIDES))}")
    changes = {name: value for name, value in overrides.items() if value is not None}
    if isinstance(changes.get("api_key"), str):
        changes["api_key"] = SecretStr(changes["api_key"])
    if _names_model(overrides):
        changes["models"] = ()
    return replace(settings, **changes)


def _writer(record: CallRecord) -> str:
    return "rules" if record.provider == "rules" else f"{record.provider}/{record.model}"


def _sum(total: Any, more: Any) -> Any:
    return total if more is None else more if total is None else total + more
