"""A competition's own `prepare.py` and `grade.py`, imported as they are, with or without the package `mlebench`."""
