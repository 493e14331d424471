"""Statements of the papers tied to numbers that the pipeline computes."""
