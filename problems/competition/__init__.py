"""The competition family (see docs/competitions.md)."""
