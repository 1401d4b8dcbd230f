"""`verify`: everything that a run claims, recomputed from its records without running anything."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from core.storage.chain_check import ChainRead, Finding
from core.storage.connection import no_run
from core.storage.database import DB_NAME
from core.storage.held import is_held
from core.storage.migrations import CHAINED
from core.storage.store_check import check_store
from runs.proof.file_check import check_files
from utils.counts import counted

Verdict = Literal["authentic", "consistent", "extended", "unchained", "tampered"]
MOST_FINDINGS = 1000


@dataclass(slots=True)
class Verification:
    """What `verify` found out about a run or a bundle."""

    name: str
    verdict: Verdict
    sentence: str
    """What the verdict says, and what it does not exclude."""
    journal_head: str | None
    links: int
    findings: list[Finding] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    """What nothing vouches for, and why."""
    chained_from: list[dict[str, int]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    """Table → rows that were checked."""

    @property
    def holds(self) -> bool:
        """True if it is what was asked for: `authentic` where a head was given, else `consistent`."""
        return self.verdict in ("authentic", "consistent")

    def plain(self) -> dict[str, Any]:
        """As JSON; of a great many findings the first `MOST_FINDINGS`."""
        return {
            "run": self.name,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "journal_head": self.journal_head,
            "links": self.links,
            "chained_from": self.chained_from,
            "checked": self.counts,
            "unchecked": self.unchecked,
            "findings": [{"where": one.where, "what": one.what} for one in self.findings[:MOST_FINDINGS]],
            "findings_total": len(self.findings),
        }


def verify_run(run_dir: Path, head: str | None = None) -> Verification:
    """Check the store and the files of `logs/<run>`.

    Args:
        head: the newest head of the chain, as it is known from elsewhere.

    Raises:
        StoreVersionError: a newer version wrote it. StoreError: it cannot be read now, by no fault of the run's.
        UnknownRunError: the run has not begun, or was killed before.
    """
    held = is_held(run_dir)
    store = check_store(run_dir)
    if not store.schema and head is None and not store.findings:
        raise no_run(run_dir / DB_NAME)
    unchecked: list[str] = []
    beside = [] if held else list(check_files(run_dir, unchecked))
    if held or is_held(run_dir):  # one that began meanwhile may have been writing what was read
        beside, unchecked = [], ["the files beside the store: a process works on the run"]
    findings = [*store.findings, *beside]
    chained = store.schema >= CHAINED
    return concluded(
        run_dir.name, store.chain, findings, head, chained=chained, unchecked=unchecked,
        chained_from=store.chained_from, counts=store.counts,
    )  # fmt: skip


def concluded(
    name: str, chain: ChainRead, findings: list[Finding], head: str | None, *, chained: bool = True, **found: Any
) -> Verification:
    """The verdict on what was found."""
    if head is not None and head not in chain.heads:
        findings = [
            Finding("chain", f"the head {head} is none of its links': the journal was made anew or cut off"),
            *findings,
        ]
    verdict, sentence = _judged(chain, findings, head, chained)
    sentence += "".join(
        f" Chained from link {origin['link']}: the rows before it lay there unchained, in schema {origin['schema']}."
        for origin in found.get("chained_from", ())
    )
    return Verification(name, verdict, sentence, chain.head or None, chain.links, findings, **found)


def _judged(chain: ChainRead, findings: list[Finding], head: str | None, chained: bool) -> tuple[Verdict, str]:
    if findings:
        count = counted(len(findings), "thing is", "things are")
        return "tampered", f"{count} not as the run left {'them' if len(findings) > 1 else 'it'}."
    if not chained:
        return "unchained", (
            "An older version wrote this run: its records agree with each other; no chain says that none was changed."
        )
    links = counted(chain.links, "link holds", "links hold")
    if head is None:
        return "consistent", (
            f"Its {links}, and rows and files are as they were written. That does not exclude that "
            "somebody made the whole journal anew, or cut off its end: only a head that you know from elsewhere "
            "(--head) does."
        )
    if head != chain.head:
        later = chain.links - chain.heads[head]
        return "extended", (
            f"Up to link {chain.heads[head]} this is the journal with that head; "
            f"{counted(later, 'more link')} came after it, and for what they say nothing vouches but themselves."
        )
    return (
        "authentic",
        f"This is the journal with that head: its {links}, rows and files are as written.",
    )
