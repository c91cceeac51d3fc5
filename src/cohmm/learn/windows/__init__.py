"""From counts of triples."""
