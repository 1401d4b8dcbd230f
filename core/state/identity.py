"""What a node may be called. Its id names files and folders of its run: none that a stranger chose leads elsewhere."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import StringConstraints

PLAIN = re.compile("(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?")
PlainId = Annotated[str, StringConstraints(pattern=f"^{PLAIN.pattern}$")]
