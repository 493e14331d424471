"""The models that learn to match and copy: sequences (B, L, d_in) to a prediction at the last position."""
