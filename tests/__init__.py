"""Makes `python -m tests.boundary` ours: other packages install a module `tests`."""
