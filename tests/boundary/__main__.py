"""python -m tests.boundary [NAME …] [--kind KIND …] [--way WAY …] [--against CMD]: what holds, and what does not."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.boundary import suite
from tests.boundary.kinds import KINDS
from tests.boundary.ours import ROOT
from tests.support.attack_accounts import ordinary_user


def main() -> int:
    """0: every attack was held and every control won; 1 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m tests.boundary", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="attacks or families; all without")
    parser.add_argument("--kind", action="append", default=[], choices=sorted(KINDS))
    parser.add_argument(
        "--way", action="append", default=[], help="apart, child, written, screen, auto, together; elsewhere, beside"
    )
    parser.add_argument("--against", metavar="CMD", help="another runner: CMD FOLDER (README.md)")
    parser.add_argument("--sandbox", action="append", default=[], help="warm, lite, bubblewrap; auto without")
    parser.add_argument("--user", action="store_true", help="as root: try it all as an ordinary user")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="N attacks of each family and kind")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows here, too")
    args = parser.parse_args()
    if args.user and os.getuid() == 0:
        return as_user([word for word in sys.argv[1:] if word != "--user"])
    pairs = suite.chosen(args.kind, args.names, args.sample)
    if not pairs:
        parser.error(f"no attack fits {' '.join(args.names + args.kind)}")
    began, rows, theirs = time.monotonic(), [], shlex.split(args.against or "")
    tiers = args.sandbox or ["auto"]
    found = suite.against_command(theirs, pairs) if theirs else suite.against_us(pairs, args.way, tiers)
    print(f"{'attack':44s} {'kind':26s} {'theirs' if args.against else 'ours':24s} control")
    for row in found:
        rows.append(row)
        lost = "" if row.is_attack else "   NO ATTACK: it loses where nothing stands in its way"
        told = "held" if row.held else f"LOST ({', '.join(row.won)})"
        tier = "" if row.tier == "auto" else row.tier
        place = " ".join(filter(None, (row.kind, row.way, tier)))
        print(f"{row.name:44s} {place:26s} {told:24s} {', '.join(row.control) or 'held'}{lost}", flush=True)
    print(f"\n{suite.summary(rows)}, {time.monotonic() - began:.0f} s")
    if args.json:
        facts = ("name", "kind", "way", "tier", "won", "control")
        args.json.write_text(json.dumps([{name: getattr(row, name) for name in facts} for row in rows], indent=1))
    return 0 if all(row.held and row.is_attack for row in rows) else 1


def as_user(words: list[str]) -> int:
    """The same in a process of an ordinary user, made for such suites."""
    account = ordinary_user()
    if account.why:
        print(f"no ordinary user: {account.why}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="boundary-user-") as folder:
        Path(folder).chmod(0o755)
        python = with_packages(account.python, account.site, Path(folder)) if account.site else account.python
        command = [*account.prefix, python, "-m", "tests.boundary", *words]
        compiled = Path(folder, "numba")  # once: every place has a home of its own, and compiling takes a minute
        compiled.mkdir()
        compiled.chmod(0o777)
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": str(compiled)}
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def with_packages(python: str, site: str, folder: Path) -> str:
    """An environment of that interpreter with these packages: what it starts with a clean environment has them too."""
    subprocess.run([python, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
    (own,) = folder.glob("venv/lib/python*/site-packages")
    (own / "ours.pth").write_text(f"{site}\n")
    return str(folder / "venv" / "bin" / "python")


if __name__ == "__main__":
    sys.exit(main())
