"""The dashboard's server: reads stores, starts `main.py` as a child process, never hosts a search."""
