"""What runs in the fork server and its children: standard library and ctypes only.

These files are started by path in the candidates' interpreter (`python -s start.py`), where nothing of ours is
installed, so they import each other relatively and the rest of Swarm-Evo not at all. Python 3.9 must understand them.

start         trusted; imports the rest of ours and begins the fork server
fork_server   trusted; preloads modules, forks one supervisor after the other
supervisor    trusted; first process of a job's namespaces: builds the file system, starts candidates, measures, kills
compartment   trusted; namespaces, private folders and processes of one supervisor's jobs
candidate     the last lines of ours before untrusted code: confines itself for good, then runs the program
interpreter   what a program finds of its interpreter: arranged by the supervisor once, settled by each candidate
messages      what they tell each other and the host
"""
