"""Bayesian theory of the copy task: exact marginal posterior, its data average, and what follows from it."""
