"""What a run's calls were spent on: equal prompts, replies that repeat their parent, reviews, what a cache can serve.

    python benchmarks/prompt_measures.py logs/RUN … RECORDING …

Each argument is a run's folder or a recording's. Counted are first questions of a writer, not those that ask again.

prompts     first prompts for a program
equal       those that were asked before, word by word
repeated    of the replies to one shown program (improve, debug, …), characters in lines that are the program's
reviews     reviews among all calls
prefix      share of the characters of all prompts that begin as an earlier prompt of the run begins
over 1,024  the same where only beginnings of 1,024 tokens or more count, as at most providers
$/gain      dollars over the number of new bests; – where no price is known, or of a recording without scores
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.backend.recording import MANIFEST, open_recording
from core.contracts import WRITING_ROLES, CallRecord
from core.events import NodeCommitted
from core.state.operators import FREE_OPERATORS
from core.storage.reader import RunReader

LEAST = 1024 * 4
"""Characters of 1,024 tokens."""
REPAIRS_FROM = 500
"""Calls of a writer from this number on ask for a crashed program's repair: a prompt of their own."""
_SHOWN = re.compile(r"^## (?:The program|Previous attempt)\b.*$", re.MULTILINE)
"""The heading of the one program that a prompt asks to change, today and in older recordings."""
_POINTER = re.compile(r"^Its code stands above: Code of (\[\d+\])\.$", re.MULTILINE)
_FENCED = r"\n(`{3,})\w*\n(.*?)\n\1$"


@dataclass(frozen=True, slots=True)
class Measures:
    """Of one run; shares are of 1."""

    prompts: int
    equal: int
    repeated: float | None
    """None where no program was shown."""
    reviews: float
    prefix: float
    prefix_of_a_cache: float
    dollars: float | None


def measures_of(calls: Sequence[CallRecord]) -> Measures:
    """The measures of a run's calls, in the order of their answers."""
    first = [call for call in calls if call.role in WRITING_ROLES and call.attempt in (0, REPAIRS_FROM)]
    asked = [call.system + call.user for call in first]
    prompts = [call.system + call.user for call in calls]
    known = [_longest(text, prompts[:place]) for place, text in enumerate(prompts)]
    total = sum(map(len, prompts)) or 1
    costs = [call.cost_usd for call in calls if call.cost_usd is not None]
    return Measures(
        prompts=len(asked),
        equal=len(asked) - len(set(asked)),
        repeated=_repeated(first),
        reviews=sum(call.role == "feedback" for call in calls) / max(1, len(calls)),
        prefix=sum(known) / total,
        prefix_of_a_cache=sum(length for length in known if length >= LEAST) / total,
        dollars=sum(costs) if costs else None,
    )


def shown_program(prompt: str) -> str:
    """The one program that a prompt asks to change; '' where it shows none or several."""
    heading = _SHOWN.search(prompt)
    if heading is None:
        return ""
    section = prompt[heading.end() :]
    pointer = _POINTER.search(section)
    place, text = (f"^Code of {re.escape(pointer[1])}:", prompt) if pointer else ("^Its code:", section)
    code = re.search(place + _FENCED, text, re.MULTILINE | re.DOTALL)
    return code[2] if code else ""


def _repeated(calls: Iterable[CallRecord]) -> float | None:
    same = written = 0
    for call in calls:
        known = {line.strip() for line in shown_program(call.user).splitlines() if line.strip()}
        if known:
            lines = [line.strip() for line in call.reply.splitlines()]
            written += sum(map(len, lines))
            same += sum(len(line) for line in lines if line in known)
    return same / written if written else None


def _longest(text: str, earlier: Sequence[str]) -> int:
    """Characters of the longest beginning that one of `earlier` has too."""
    return max((_same(text, other) for other in earlier), default=0)


def _same(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def calls_of(folder: Path) -> tuple[list[CallRecord], int | None]:
    """The calls of a run or a recording without those of `rules`, and how often the run had a new best."""
    if (folder / MANIFEST).is_file():
        return list(open_recording(folder).calls), None
    with RunReader(folder) as reader:
        told = [
            event for event in reader.events(limit=10**6, types=["node.committed"]) if isinstance(event, NodeCommitted)
        ]
        gains = sum(event.is_best and event.operator not in FREE_OPERATORS for event in told)
        return [call for call in reader.calls() if call.provider != "rules"], gains


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    heads = ("prompts", "equal", "repeated", "reviews", "prefix", "over 1,024", "$/gain")
    print(f"{'':<34}" + "".join(f"{head:>11}" for head in heads))
    for folder in parser.parse_args().folders:
        calls, gains = calls_of(folder)
        found = measures_of(calls)
        per_gain = "–" if not gains or found.dollars is None else f"{found.dollars / gains:.4f}"
        shares = [found.repeated, found.reviews, found.prefix, found.prefix_of_a_cache]
        cells = [str(found.prompts), str(found.equal)]
        cells += ["–" if share is None else f"{share:.1%}" for share in shares]
        print(f"{folder.name[-33:]:<34}" + "".join(f"{cell:>11}" for cell in [*cells, per_gain]))


if __name__ == "__main__":
    main()
