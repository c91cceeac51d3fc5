"""From files to codes of symbols: one file a format, and what they share."""
