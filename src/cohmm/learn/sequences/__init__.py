"""From the sequences themselves: maximum likelihood."""
