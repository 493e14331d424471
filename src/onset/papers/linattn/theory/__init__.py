"""Theory of linear attention on in-context linear regression: NumPy and SciPy only."""
