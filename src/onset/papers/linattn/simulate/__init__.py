"""Simulations of the population flow from the trained runs' own starts."""
