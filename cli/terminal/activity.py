"""What goes on besides the search, before it and after it: in what words, how far it is, and since when."""

from __future__ import annotations

import time
from collections.abc import Callable


class Activity:
    """The newest words, and the seconds that their matter has taken.

    Words up to a colon name the matter: `final part: 2 of 3` is what `final part: 1 of 3` was.

    Args:
        clock: seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.text = ""
        """'' while nothing goes on."""
        self._since = clock()

    def tell(self, text: str) -> None:
        """Take in what goes on now; '': it is over."""
        if _matter(text) != _matter(self.text):
            self._since = self._clock()
        self.text = text

    @property
    def seconds(self) -> float:
        """Since it began."""
        return self._clock() - self._since

    @property
    def line(self) -> str:
        """The words and the seconds; '' while nothing goes on."""
        return f"{self.text}, {self.seconds:.0f} s" if self.text else ""


def _matter(text: str) -> str:
    return text.partition(":")[0]
