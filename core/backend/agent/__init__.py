"""Coding agents as writers: one session a ticket, behind a gateway that holds the key."""
