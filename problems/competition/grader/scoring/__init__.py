"""Formulas of metrics, the checks of a submission, the parts of hidden rows, blends of stored predictions."""
