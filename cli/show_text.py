"""`show` for people."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text


def print_run(facts: dict[str, Any]) -> None:
    console = Console()
    head = Table.grid(padding=(0, 2))
    unit = facts["unit"] or "metric"
    rows = {
        "run": facts["run"],
        "problem": f"{facts['problem']} ({unit}, {'lower' if facts['direction'] == 'min' else 'higher'} is better)",
        "status": facts["status"],
        "writer": facts["writer"],
        "best": f"{_number(facts['best_metric'])} ({facts['metric_source']}), node {facts['best_node_id']}",
        "final": f"{_number(facts['final_metric'])} {_interval(facts['final_interval'])}",
        "steps": str(facts["steps"]),
        "failures": ", ".join(f"{kind} {count}" for kind, count in facts["failures"].items()) or "none",
        "tokens": "–" if facts["tokens"] is None else f"{facts['tokens']:,}",
        "cost": "–" if facts["cost_usd"] is None else f"${facts['cost_usd']:.4f}",
        "sandbox": str(facts["sandbox"].get("tier", "")),
        "journal": facts["journal_sha256"],
    }
    for name, value in rows.items():
        head.add_row(Text(name, style="bold"), Text(value))
    console.print(head)
    if facts["baselines"]:
        table = Table("baseline", "validation", "final")
        for row in facts["baselines"]:
            table.add_row(Text(row["name"]), _number(row["metric"]), _number(row.get("final")))
        console.print(table)
    nodes = Table("node", "operator", "parents", unit, "failure")
    for row in facts["nodes"][-40:]:
        parents = " ".join(row["parent_ids"])
        nodes.add_row(row["node_id"], row["operator"], parents, _number(row["metric"]), row["failure"] or "")
    console.print(nodes)
    if "why" in facts:
        console.print_json(data=facts["why"])


def print_node(facts: dict[str, Any]) -> None:
    """A node, whole. Everything a candidate or a model wrote is printed as plain text."""
    console = Console()
    wanted = (
        "node_id",
        "step",
        "operator",
        "parent_ids",
        "metric",
        "metric_source",
        "claimed_metric",
        "failure",
        "writer",
    )
    for name in wanted:
        console.print(Text.assemble((f"{name:>16} ", "bold"), str(facts[name])))
    for title in ("plan", "analysis", "term_out"):
        if facts[title]:
            console.rule(title)
            console.print(Text(facts[title]))
    if facts["metadata"].get("message"):
        console.print(Text(f"message: {facts['metadata']['message']}"))
    console.rule("code")
    console.print(Syntax(facts["code"], "python", line_numbers=True, word_wrap=True))
    for call in facts["calls"]:
        console.rule(f"call: {call['role']} {call['provider']}/{call['model']}")
        console.print(Text(call["reply"]))
    if "why" in facts:
        console.print_json(data=facts["why"])


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.6g}"


def _interval(pair: list[float] | None) -> str:
    return f"(95 % {pair[0]:.6g} … {pair[1]:.6g})" if pair else ""
