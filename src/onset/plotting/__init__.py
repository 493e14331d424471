"""The look of all figures, and panels that several of them share."""
