"""Simulations of the regression variant's gradient flows."""
