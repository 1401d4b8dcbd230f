"""Runs as they lie in their folders: read, listed, compared, explained, and what their configuration names."""
