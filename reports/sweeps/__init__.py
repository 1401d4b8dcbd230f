"""Sweeps as they lie in a project: what they run, and what their runs say against each other."""
