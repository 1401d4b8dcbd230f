"""What goes on beside a search: files that are written, programs' output, the log, the clock, room on the disk."""
