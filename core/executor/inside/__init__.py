"""What runs in the fork server and its children: standard library and ctypes only.

These files are started by path in the candidates' interpreter (`python -s fork_server.py`), where nothing of ours is
installed, so they import each other relatively and the rest of Swarm-Evo not at all.

fork_server   trusted; preloads modules, makes one supervisor a slot
supervisor        trusted; pid 1 of a slot: builds the view, starts candidates, measures, kills, reports
candidate     the last lines of ours before untrusted code: confines itself for good, then runs the program
"""
