"""From data to evidence: sequences, and counts that add up."""
