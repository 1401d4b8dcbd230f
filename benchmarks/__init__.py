"""What is measured is started as users start it: with modules that were compiled before."""

import os

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
