"""Ways to choose parents, one file each."""
