"""Fetches a package, searches for a faster one, applies the patch to the original and tells what it is worth."""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PACKAGES = {
    "idna": ("idna==3.10", "idna/*.py"),
    "Unidecode": ("Unidecode==1.3.8", "unidecode/__init__.py"),
    "xmltodict": ("xmltodict==0.14.2", "xmltodict.py"),
}
TESTS = "python3 -m unittest discover -q -s tests -t ."


def fetched(name: str, folder: Path) -> Path:
    """The package's sources as a repository below `folder`, with its benchmark in it."""
    wanted = PACKAGES[name][0]
    words = ["download", "-q", "--no-deps", "--no-binary", ":all:", "-d", str(folder), wanted]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    archive.unlink()
    (source,) = (path for path in folder.iterdir() if path.is_dir())
    (source / "bench.py").write_text((HERE / name / "bench.py").read_text())
    return source


def seconds(source: Path) -> float:
    done = subprocess.run([sys.executable, "bench.py"], cwd=source, capture_output=True, text=True, check=True)
    return float(re.findall(r"seconds: ([\d.e-]+)", done.stdout)[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", choices=PACKAGES)
    parser.add_argument("--writer", choices=["recorded", "rules", "model"], default="recorded")
    parser.add_argument("--steps", type=int, default=6, help="of a model of yours; its keys follow, as --llm=openai")
    parser.add_argument("--folder", help="where to work; a fresh temporary folder if absent")
    args, more = parser.parse_known_args()
    folder = Path(args.folder or tempfile.mkdtemp(prefix="repositories-")).resolve()
    (folder / "original").mkdir(parents=True)
    source = fetched(args.package, folder / "original")
    replies = HERE / args.package / "replies.md"
    words = [
        "run", "--problem=command", f"--problem.source={source}", f"--problem.editable={PACKAGES[args.package][1]}",
        f"--problem.eval={TESTS} && python3 bench.py", "--problem.metric=seconds", "--problem.direction=min",
        "--problem.require=tests==pass", "--problem.options.repeats=3", "--problem.options.alone=true",
        f"--problem.options.statement=Make the package {args.package} faster at what bench.py times.",
        "--search.islands.num_islands=1", "--search.batch=1", "--search.lag=1", "--logging.report=false", *more,
    ]  # fmt: skip
    if args.writer != "rules":
        words += ["--search.islands.crossover_prob=0", "--search.islands.generate_prob=0", "--search.control=0"]
        words += ["--search.selectors.tournament.size=50"]  # from the best so far
    if args.writer == "recorded":
        count = replies.read_text().count("\n%%%\n") + 1
        player = f"{sys.executable} {HERE / 'play.py'} {replies}"
        words += [f"--search.max_steps={count}", "--llm.code.provider=command", f"--llm.code.command={player}"]
    else:
        words += [f"--search.max_steps={args.steps if args.writer == 'model' else 20}"]
    evo = [sys.executable, str(ROOT / "main.py")]
    print(" ".join(evo), *(f"'{word}'" for word in words), flush=True)
    subprocess.run([*evo, *words], cwd=folder, check=True)
    patch = folder / "best.patch"
    subprocess.run([*evo, "export-best", "latest", f"--patch={patch}"], cwd=folder, check=True)
    told(args.package, folder, source, patch)


def told(name: str, folder: Path, source: Path, patch: Path) -> None:
    """Apply the patch to a fresh copy of the original, run its tests, and compare the two in turns."""
    if "diff --git" not in patch.read_text():
        print(json.dumps({"package": name, "speed_up": None, "note": "nothing was better than the package as it is"}))
        return
    (folder / "patched").mkdir()
    faster = fetched(name, folder / "patched")
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder)}
    subprocess.run(["git", "apply", str(patch)], cwd=faster, check=True, env=environment)
    tests = subprocess.run(
        [sys.executable, *TESTS.split()[1:]], cwd=faster, capture_output=True, text=True, check=False
    )
    pairs = [(seconds(source), seconds(faster)) for _ in range(9)]
    ratios = sorted(before / after for before, after in pairs)
    found = {
        "package": name,
        "speed_up": round(statistics.median(ratios), 3),
        "interval": [round(ratios[1], 3), round(ratios[-2], 3)],
        "tests": "pass" if tests.returncode == 0 else "fail",
        "patch_bytes": patch.stat().st_size,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
