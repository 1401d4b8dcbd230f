"""`completion`: a script that lets the shell complete verbs, options, keys, presets and runs."""

from __future__ import annotations

import argparse
import shutil

from cli.hint import options_of
from cli.options import project_dir_of, remark
from runs.run_folder import all_runs
from utils.config import known_keys
from utils.config_places import CONFIG_DIR
from utils.program import program
from utils.strategies import option_keys

BASH = """\
_swarm_evo() {
    local word="${COMP_WORDS[COMP_CWORD]}"
    COMPREPLY=($(compgen -W "$(swarm-evo completion words "${COMP_WORDS[1]}" 2>/dev/null)" -- "$word"))
    [[ "${COMPREPLY[0]}" == *= ]] && compopt -o nospace
}
complete -o bashdefault -o default -F _swarm_evo swarm-evo
"""
ZSH = "autoload -U +X bashcompinit && bashcompinit\n" + BASH
FISH = """\
complete -c swarm-evo -f -a '(swarm-evo completion words (commandline -opc)[2] 2>/dev/null | string split " ")'
"""
SHELLS = {"bash": BASH, "zsh": ZSH, "fish": FISH}
COMMAND = "swarm-evo"
"""What the scripts complete: the command that an installation puts beside its Python."""
INSTALL = """\
bash: {program} completion bash >> ~/.bashrc
zsh:  {program} completion zsh >> ~/.zshrc
fish: {program} completion fish > ~/.config/fish/completions/swarm-evo.fish
The scripts complete the command `swarm-evo`, which `pip install` puts beside its Python.
"""
RUN_VERBS = (
    "show", "compare", "resume", "replay", "fork", "report", "export", "export-best", "step", "verify", "rm", "tag",
    "ask", "check", "tell", "wait", "give-up",
)  # fmt: skip


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "completion", help="a script that completes words in your shell", description=INSTALL.format(program=program()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("shell", choices=[*SHELLS, "words"], help="`words` is what the scripts ask")
    parser.add_argument("after", nargs="?", default="", help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    if args.shell == "words":
        print(" ".join(words(args.after, project_dir_of(args))))
    else:
        print(SHELLS[args.shell], end="")
        if shutil.which(COMMAND) is None:
            remark(f"note: this completes `{COMMAND}`, which is not on your PATH; `-h` says where it comes from")
    return 0


def words(verb: str, project_dir: str) -> list[str]:
    """What may come next after a verb; the verbs themselves while none stands there."""
    from cli.parser import VERBS, build_parser

    keys = [f"--{key}=" for key in [*known_keys(), *option_keys()]]
    presets = [
        f"--{kind}={path.stem}" for kind in ("problem", "llm") for path in sorted((CONFIG_DIR / kind).glob("*.yaml"))
    ]
    if verb not in VERBS:
        return [*VERBS, *presets, *keys]
    runs = ["latest", *(path.name for path in all_runs(project_dir))] if verb in RUN_VERBS else []
    return [*runs, *options_of(build_parser(verb), verb), *presets, *keys]
