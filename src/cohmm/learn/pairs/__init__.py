"""From counts of pairs: Algorithm 1 of the paper, and what it is made of."""
