"""From documents: topics, with word order and without."""
