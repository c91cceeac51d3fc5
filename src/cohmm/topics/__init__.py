"""Topics in which word order counts, and measures by which all topic models are judged alike."""
