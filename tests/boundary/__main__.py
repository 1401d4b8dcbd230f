"""python -m tests.boundary [NAME …] [--kind KIND …] [--way WAY …] [--against CMD]: what holds, and what does not."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from pathlib import Path

from tests.boundary import suite
from tests.boundary.kinds import KINDS


def main() -> int:
    """0: every attack was held and every control won; 1 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m tests.boundary", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="attacks or families; all without")
    parser.add_argument("--kind", action="append", default=[], choices=sorted(KINDS))
    parser.add_argument("--way", action="append", default=[], help="apart, screen, auto, together")
    parser.add_argument("--against", metavar="CMD", help="another runner: CMD FOLDER (README.md)")
    parser.add_argument("--sandbox", default="auto", help="warm, lite, bubblewrap; auto without")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="N attacks of each family and kind")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows here, too")
    args = parser.parse_args()
    pairs = suite.chosen(args.kind, args.names, args.sample)
    if not pairs:
        parser.error(f"no attack fits {' '.join(args.names + args.kind)}")
    began, rows, theirs = time.monotonic(), [], shlex.split(args.against or "")
    found = suite.against_command(theirs, pairs) if theirs else suite.against_us(pairs, args.way, args.sandbox)
    print(f"{'attack':44s} {'kind':20s} {'theirs' if args.against else 'ours':24s} control")
    for row in found:
        rows.append(row)
        lost = "" if row.is_attack else "   NO ATTACK: it loses where nothing stands in its way"
        told = "held" if row.held else f"LOST ({', '.join(row.won)})"
        place = f"{row.kind} {row.way}".strip()
        print(f"{row.name:44s} {place:20s} {told:24s} {', '.join(row.control) or 'held'}{lost}", flush=True)
    print(f"\n{suite.summary(rows)}, {time.monotonic() - began:.0f} s")
    if args.json:
        facts = ("name", "kind", "way", "won", "control")
        args.json.write_text(json.dumps([{name: getattr(row, name) for name in facts} for row in rows], indent=1))
    return 0 if all(row.held and row.is_attack for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
