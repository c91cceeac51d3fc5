"""More states than symbols: from triples, and from longer windows."""
