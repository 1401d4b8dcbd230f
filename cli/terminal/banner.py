"""What a run says before it starts: what is searched, who writes, where programs run, and what it may cost."""

from __future__ import annotations

from reports.note_parts import note_parts
from reports.search_limits import limits_text
from runs.beginning.notes import is_unmetered, notes_of
from runs.facts import RunFacts
from runs.parts.writing import ideas_at_once
from utils.config_search import SearchConfig
from utils.counts import counted
from utils.direction import Direction


def banner(facts: RunFacts) -> list[str]:
    """What is about to happen, who writes, and what it may cost."""
    config, problem = facts.config, facts.problem
    better = Direction(problem.lower_is_better).word
    writer = facts.writer
    search = config.search
    limits = limits_text(search.max_steps, search.max_generations, config.budget.seconds)
    lines = [
        f"run {facts.run}: {problem.name}, {problem.unit or 'metric'} ({better} is better)",
        f"writer: {_writers(facts)}" + (" (a rule-based writer, not a language model)" if writer == "rules" else ""),
        f"search: {search.policy}, {limits}, {counted(search.workers, 'worker')}, seed {config.project.seed}",
        f"sandbox: {facts.sandbox}",
    ]
    lines += [f"NOTE: {note}" for note in notes_of(config, facts.roles, problem)]
    if facts.offline:
        lines.append("cost: none: every reply is in the record")
    elif writer != "rules":
        from core.backend.doctor import silent_servers

        lines.append(f"cost: {quote_line(facts)}")
        lines += [
            f"NOTE: nothing answers at {url} yet; start that server, or Ctrl-C and resume later"
            for url in silent_servers(facts.roles)
        ]
    lines += [f"note: {part}" for part in note_parts(problem.note)]
    if facts.sandbox == "none":
        lines.append("NO SANDBOX: programs run with your rights, scores are unisolated")
    return lines


def _writers(facts: RunFacts) -> str:
    """Who writes programs; several models with the way that one is chosen."""
    settings = facts.roles["code"]
    names = [model.writer for model in settings.alternatives]
    return f"{', '.join(names)} ({settings.choice})" if len(names) > 1 else facts.writer


def quote_line(facts: RunFacts) -> str:
    """Steps × expected tokens, before the first call."""
    from core.backend.preflight import quote

    config = facts.config
    steps = _expected_steps(config.search)
    wanted = config.agent.review
    reviews = wanted == "always" or (wanted == "auto" and facts.problem.claims_only)
    if any(map(is_unmetered, facts.roles.values())):
        return "metered: claimed, by the agent's own login; no cap on dollars holds"
    cap = config.budget.usd
    if steps is None:
        return f"no limit on steps; for each: {quote(facts.roles, 1, reviews=reviews).text(cap)}"
    return quote(facts.roles, steps, reviews=reviews, ideas=ideas_at_once(config)).text(cap)


def _expected_steps(search: SearchConfig) -> int | None:
    """Steps that the limits allow; None without a limit on steps or generations."""
    a_generation = search.options.generation_size
    generations = search.max_generations if a_generation else None
    limits = [search.max_steps, generations and generations * (a_generation or 1)]
    return min((limit for limit in limits if limit is not None), default=None)
