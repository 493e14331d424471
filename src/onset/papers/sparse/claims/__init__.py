"""Claims of arXiv 2602.19143."""
