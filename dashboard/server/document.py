"""`python -m dashboard.server.document [FILE]`: the OpenAPI document, from which the page's types are generated."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from dashboard.server.app import create_app


def document() -> str:
    """The document as the repository keeps it: sorted, indented, so that a change reads well."""
    return json.dumps(create_app(Path()).openapi(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(document(), encoding="utf-8")
    else:
        sys.stdout.write(document())
