"""Sweeps: one run for each setting and seed, and what they say against each other."""
