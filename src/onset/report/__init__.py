"""The report: every figure of a scale with its claims, theory, parameters and provenance, as one folder."""
