"""What a run looks like afterwards: plots and a report in one file, read from its store."""
