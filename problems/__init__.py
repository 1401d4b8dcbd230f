"""The problems that come along, one folder each; `problems/registry.py` names them."""
