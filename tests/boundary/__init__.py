"""Attacks on the boundary; see README.md."""
