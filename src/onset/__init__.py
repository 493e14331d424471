"""Onset: how attention heads emerge during training, rebuilt figure by figure."""

__version__ = "0.1.0"
