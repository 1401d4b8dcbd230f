"""How a run ends: which program won, what the final part says of it, what is written and what is removed."""
