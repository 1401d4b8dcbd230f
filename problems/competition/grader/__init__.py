"""Trusted code that runs in child processes only: prepares data, holds labels, grades.

It is loaded by path as the package `swarm_evo_grader` (see `launch.py`), with nothing of ours on `sys.path`, so that a
competition's own `prepare.py` and `grade.py` may import modules called `utils` or `core`. pandas and scikit-learn are
imported here and never in the main process.
"""
