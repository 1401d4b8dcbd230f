"""How a run's candidates are kept apart from a user's evaluator: decided once, with the user's own program.

apart      the evaluator is trusted, each call of the candidate crosses to the sandbox
screen     scored beside the evaluator inside the sandbox first, and apart before the score may rank
together   beside the evaluator inside the sandbox: the candidate can reach it, the score is `unisolated`

No candidate has a say in it: what it answers that cannot cross is its failure.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from core.evaluation.isolation.apart import Apart
from core.evaluation.isolation.together import Together

Isolation = Literal["apart", "screen", "together"]
UNSCORED = "your own program has no score"
UNTRIED = "whether the score is a time was not tried, since an evaluation takes so long"
FEW_CALLS = 20
"""With no more, the evaluator's process is begun ahead of need (`Apart.ahead`)."""


class Decision(BaseModel):
    """What was decided, and what it takes to score a candidate so. Plain JSON, kept with the run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    isolation: Isolation
    reason: str = ""
    """Why the two share a sandbox, or what was measured."""
    doubt: str = ""
    """Why the score apart may be another than the program's; told as a warning."""
    classes: tuple[str, ...] = ()
    """What objects the user's own program has and what they do (`Proxy.classes`); all else answers with plain data."""
    modules: dict[str, str] = Field(default_factory=dict)
    """Modules beside the evaluator that the program imports: name → source."""
    serves: bool = False
    """The evaluator calls the program from further processes, too (`Apart.serves`)."""
    forks: bool = True
    """Each evaluation may be a fork of the loaded evaluator."""
    shows: tuple[str, ...] = ()
    """What a sandbox has to show for the evaluator to run in it, its own folder apart."""
    noise: float = 0.0
    """How much the score of one program varies by itself."""
    scores: tuple[float, ...] = ()
    """Of the user's program, the way that was decided for; () where it was scored but once."""
    tries: int = 0
    """How often the user's program was scored for it."""
    calls: int | None = None
    """Calls of the user's program that an evaluation made apart; None where that is not known."""
    file: str = ""
    """What the file of a program that is no Python is called: its compiler or evaluator may go by that."""

    def apart(self, evaluator: Path, timeout: float) -> Apart:
        return Apart(
            evaluator, classes=self.classes, modules=self.modules, forks=self.forks, timeout=timeout,
            ahead=self.calls is not None and self.calls <= FEW_CALLS, serves=self.serves, text_file=self.file,
        )  # fmt: skip

    def together(self, evaluator: Path, folder: Path, timeout: float, beside: str = "") -> Together:
        """How a program is scored beside the evaluator.

        Args:
            folder: where the user's evaluator lies on this machine, with what is beside it.
            beside: folder of the user's program, where that is another; for programs that are no Python.
        """
        shows = tuple(path for path in (str(folder), beside, *self.shows) if path)
        if not self.file:
            return Together(evaluator, shows=shows, timeout=timeout)
        return Together(evaluator, shows=shows, timeout=timeout, file=self.file, beside=beside or str(folder))
