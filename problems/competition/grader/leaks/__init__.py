"""What tells a hidden label: in the tables before a search, and in the files that lie beside them."""
