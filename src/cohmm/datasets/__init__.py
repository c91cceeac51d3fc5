"""Data with known answers."""
