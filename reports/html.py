"""report.html: one file that opens offline, without a script. Everything from programs and models is escaped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from core.state.failure import FailureKind
from reports.bill import unanswered
from reports.curve import curve_svg, legend
from reports.dag import dag_svg
from reports.descent import descent
from reports.facts import RunFacts, read_facts
from reports.highlight import language, program
from reports.markup import EMPTY, Content, Markup, clip, code, figure, join, table, tag
from reports.note_parts import note_parts
from reports.operator_worth import worth_of
from reports.outcome import measured, outcome
from reports.outside import who_wrote
from reports.provenance import cell, environment, flat, reproduce, settings
from reports.transcript import Turn
from utils.counts import counted
from utils.file_utils import write_atomic

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
CHILDLESS = "program that nothing descends from stands", "programs that nothing descends from stand"
OFF_LINE = "older program off that line is", "older programs off that line are"
MOST_REMARKS = 50
MOST_SESSIONS = 200
MOST_TURNS = 50
LONGEST_TURN = 2_000
"""Characters of one text of a session."""
WRITER_COLUMNS = ("writer", "programs", "failed", "duplicates", "improvements", "best", "tokens", "cost_usd")
MOST_GENERATIONS = 500
STYLE = Path(__file__).with_name("report.css")


def write_report(run_dir: Path, out: Path) -> Path:
    """Write the report of `logs/<run>` to the file `out`."""
    return write_facts(read_facts(run_dir), out)


def write_facts(facts: RunFacts, out: Path) -> Path:
    write_atomic(out, render(facts))
    return out


def render(facts: RunFacts) -> str:
    """The whole page."""
    sections = [
        ("Outcome", join([outcome(facts), _final_detail(facts)])),
        ("Curve", _curve(facts)),
        ("Family tree", _dag(facts)),
        ("Best program", _best(facts)),
        ("Line of descent", descent(facts)),
        ("Generations and standings", _standings(facts)),
        ("What the ladder saved", _ladder(facts)),
        ("Failures", _failures(facts)),
        ("Cost", _cost(facts)),
        ("Who wrote what", join([_writers(facts), _outside(facts)])),
        ("What the user said, notes and warnings", _remarks(facts)),
        ("Reproduce", reproduce(facts)),
        ("Environment and sandbox", environment(facts)),
        ("Configuration", tag("details", tag("summary", "resolved, secrets masked"), code(settings(facts.config)))),
    ]
    body = [tag("section", tag("h2", title), content) for title, content in sections if content.text]
    head = [
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'),
        tag("title", f"{facts.problem} · {facts.run}"),
        Markup(f"<style>\n{STYLE.read_text(encoding='utf-8')}</style>"),
    ]
    page = tag("html", tag("head", *head), tag("body", _title(facts), tag("main", *body)), lang="en")
    return f"<!doctype html>\n{page.text}\n"


def _title(facts: RunFacts) -> Markup:
    writer = "rules: not a language model" if facts.is_rules else facts.writer
    badges: list[tuple[str, str]] = [
        (f"writer: {writer}", "warn" if facts.is_rules else ""),
        (f"policy: {facts.policy}", ""),
        (counted(len(facts.steps), "step"), ""),
        (f"{facts.seconds:.1f} s" if facts.seconds is not None else "", ""),
        (f"sandbox: {facts.sandbox.get('tier', 'unknown')}", "bad" if facts.sandbox.get("tier") == "none" else ""),
        (facts.status, "" if facts.status == "finished" else "warn"),
    ]
    shown = [tag("span", text, class_=f"badge {mood}".strip()) for text, mood in badges if text]
    stopped = facts.reason == "interrupted"
    ended = "stopped by the user" if stopped else f"ended: {facts.reason}" if facts.reason else ""
    when = f"{facts.run} · started {facts.started_at[:19].replace('T', ' ')} UTC" if facts.started_at else facts.run
    return tag(
        "header",
        tag("h1", facts.problem),
        tag("p", when, class_="quiet"),
        tag("p", *shown),
        tag("p", ended, class_="quiet"),
    )


def _final_detail(facts: RunFacts) -> Markup:
    """Whatever else the final evaluation measured (other data sets, published references, games)."""
    rows = [(key, value) for key, value in flat(facts.final.get("detail") or {}) if value is not None]
    if not rows:
        return EMPTY
    shown = table(["measured", "value"], [[key.replace(".", " · "), cell(value)] for key, value in rows])
    return tag("details", tag("summary", "all that the final evaluation measured"), shown)


def _curve(facts: RunFacts) -> Markup:
    drawn = curve_svg(facts)
    if not drawn.text:
        return EMPTY
    note = "Dashed: baselines. A triangle at the edge: a score outside of the drawn range."
    return join([tag("div", drawn, class_="scroll", tabindex="0"), legend(facts), tag("p", note, class_="quiet")])


def _dag(facts: RunFacts) -> Markup:
    if not facts.nodes:
        return EMPTY
    drawing = dag_svg(facts)
    note = "Bold: the line of the best. Hollow: failed or duplicate. Dashed: second parents. Hover for details."
    if drawing.folded:
        note += f" {counted(drawing.folded, *CHILDLESS, form=',')} as +N beside their parent."
    if drawing.left_out:
        note += f" {counted(drawing.left_out, *OFF_LINE, form=',')} not drawn."
    return join([tag("div", drawing.svg, class_="dagbox", tabindex="0"), tag("p", note, class_="quiet")])


def _best(facts: RunFacts) -> Markup:
    if facts.best is None:
        return EMPTY
    best = facts.best
    facts_line = f"node {best.id}, {facts.named(best.id, best.operator)}, written by {best.writer or 'unknown'}"
    review = tag("p", clip(best.analysis), class_="plan") if best.analysis else EMPTY
    return join([tag("p", facts_line, class_="quiet"), review, measured(best), program(best.code, language(facts))])


def _standings(facts: RunFacts) -> Markup:
    if not facts.generations:
        return EMPTY
    last = facts.generations[-1]
    columns = ("name", "elo", "low", "high", "wins", "draws", "losses", "score")
    rows: list[list[Content]] = [[cell(row.get(name)) for name in columns] for row in last.ratings]
    first = (
        " Generation 0 rated the engines that the search began with." if facts.generations[0].generation == 0 else ""
    )
    parts = [tag("p", f"After generation {last.generation}.{first}")]
    if rows:
        parts.append(table(list(columns), rows))
    names = {str(row.get("node_id")): str(row.get("name")) for event in facts.generations for row in event.ratings}
    promoted: list[list[Content]] = [
        [event.generation, ", ".join(names.get(i, i) for i in event.promoted)]
        for event in facts.generations[-MOST_GENERATIONS:]
    ]
    fold = tag("details", tag("summary", "who was promoted"), table(["generation", "promoted"], promoted))
    return join([*parts, fold])


def _ladder(facts: RunFacts) -> Markup:
    counts, known = dict(facts.ladder), sum(facts.ladder.values())
    if not known:
        return EMPTY
    total = known if "full" in counts else max(known, len(facts.steps))
    saved = total - counts["full"] if "full" in counts else known
    text = (
        f"Of {counted(total, 'candidate', form=',')}, {saved:,} needed no full evaluation: a cheaper rung had answered."
    )
    rows: list[list[Content]] = [[rung, count, f"{100 * count / total:.0f} %"] for rung, count in counts.items()]
    return join([tag("p", text), table(["ended at rung", "candidates", "share"], rows)])


def _failures(facts: RunFacts) -> Markup:
    if not facts.nodes:
        return EMPTY
    if not facts.failures:
        return tag("p", "None of the programs failed.")
    most = max(facts.failures.values())
    example = {n.failure.value: n.message[:300] for n in facts.nodes if n.failure}
    rows: list[list[Content]] = []
    for kind, count in sorted(facts.failures.items(), key=lambda item: -item[1]):
        width = f"width: {100 * count / most:.0f}%"
        bar = tag("div", tag("div", "", class_="hbar", style=width), style="width: 8rem")
        rows.append([kind, count, bar, FailureKind(kind).advice, example.get(kind, "")])
    total = sum(facts.failures.values())
    share = f"{total} of {counted(len(facts.nodes), 'program')} failed ({100 * total / len(facts.nodes):.0f} %)."
    return join([tag("p", share), table(["failure", "count", "share", "what it means", "newest message"], rows)])


def _cost(facts: RunFacts) -> Markup:
    running = sum(node.exec_time for node in facts.nodes)
    active = f"{figure(facts.seconds)} s of active time in {counted(max(1, facts.processes), 'process', 'processes')}"
    parts = [tag("p", f"{active}; programs ran for {running:.1f} s." if running else f"{active}.")]
    if facts.is_rules and not facts.cost.get("prompt_tokens"):
        parts.append(
            tag("p", "The writer was ", tag("code", "rules"), ", which is not a language model: no tokens, no cost.")
        )
        return join(parts)
    total = facts.cost.get("cost_usd")
    price = "unknown" if total is None else f"${total:.4f}"
    more = unanswered(facts.cost)
    calls = counted(facts.cost.get("calls", 0), "call")
    parts.append(tag("p", f"{calls}, cost {price}{f'; {more}' if more else ''}."))
    columns = ("role", "provider", "model", "calls", "prompt_tokens", "completion_tokens", "cost_usd", "seconds")
    parts.append(
        table([c.replace("_", " ") for c in columns], [[cell(r.get(c)) for c in columns] for r in facts.roles])
    )
    parts.append(_worth(facts))
    return join(parts)


def _writers(facts: RunFacts) -> Markup:
    """A row a writer; nothing where one wrote all."""
    rows = who_wrote(facts.nodes, facts.lower_is_better)
    if len(rows) < 2 and not (facts.sessions or facts.tickets):
        return EMPTY
    return table([name.replace("_", " ") for name in WRITER_COLUMNS],
                 [[cell(getattr(row, name)) for name in WRITER_COLUMNS] for row in rows])  # fmt: skip


def _outside(facts: RunFacts) -> Markup:
    """Tickets by what became of them, and the sessions of coding agents."""
    parts = []
    if facts.tickets:
        states = Counter(str(one["state"]) for one in facts.tickets)
        told = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in states.items())
        checks = sum(int(one["checks"]) for one in facts.tickets)
        parts.append(tag("p", f"{counted(len(facts.tickets), 'ticket')}: {told}; {counted(checks, 'check')}."))
    if facts.sessions:
        columns = ("node_id", "writer", "turns", "prompt_tokens", "completion_tokens", "cost_usd", "seconds", "files")
        head = ["node", *(name.replace("_", " ") for name in columns[1:])]
        sessions = [{**one, "files": ", ".join(one["files"])} for one in facts.sessions[-MOST_SESSIONS:]]
        begun = counted(len(facts.sessions), "session")
        parts.append(tag("p", f"{begun} of coding agents; each exchange is a call of its node."))
        parts.append(table(head, [[cell(one.get(name)) for name in columns] for one in sessions]))
        parts += [_session(node_id, turns) for node_id, turns in facts.transcripts.items()]
    return join(parts)


def _session(node_id: str, turns: Sequence[Turn]) -> Markup:
    """One session as a conversation, folded."""
    lines = []
    for number, turn in enumerate(turns[:MOST_TURNS], 1):
        told = [tag("p", clip(text, LONGEST_TURN), class_="plan") for text in turn.told]
        called = [tag("p", tag("code", clip(text, LONGEST_TURN))) for text in turn.called]
        said = [tag("p", clip(turn.said, LONGEST_TURN), class_="plan")] if turn.said else []
        lines.append(tag("div", tag("h4", f"turn {number}"), *told, *said, *called))
    return tag("details", tag("summary", f"session of {node_id}: {counted(len(turns), 'turn')}"), *lines)


def _worth(facts: RunFacts) -> Markup:
    """What the steps of each operator brought for their dollars."""
    rows = worth_of(facts.nodes, facts.lower_is_better)
    head = ["operator", "steps", "improvements of the best", "gained by them", "dollars", "dollars an improvement"]
    shown = [
        [row.operator, row.steps, row.improvements, row.gain, cell(row.cost_usd), cell(row.usd_an_improvement)]
        for row in rows
    ]
    return table(head, shown)


def _remarks(facts: RunFacts) -> Markup:
    told = [f"note: {text}" for text in facts.notes[-MOST_REMARKS:]] + facts.warnings[-MOST_REMARKS:]
    left_out = len(facts.notes) + len(facts.warnings) - len(told)
    at_first = [f"of the scores: {part}" for part in note_parts(facts.problem_note)]
    items = [tag("li", clip(text, 1000)) for text in (*at_first, *told)]
    if left_out > 0:
        items.append(tag("li", f"{counted(left_out, 'older one is', 'older ones are', form=',')} not shown."))
    return tag("ul", *items) if items else EMPTY
