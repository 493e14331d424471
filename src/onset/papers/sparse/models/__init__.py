"""The transformers that learn the chain, as functions of their parameters."""
