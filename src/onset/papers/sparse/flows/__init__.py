"""Gradient flows of the regression variant, in the span of its target matrices."""
