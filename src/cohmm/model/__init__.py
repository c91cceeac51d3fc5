"""The model, a frozen value, and what it answers."""
