"""Full-batch gradient descent on exact matches and the max-margin solution that it tends to (section 4)."""
