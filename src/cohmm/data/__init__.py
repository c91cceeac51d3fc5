"""Data: sequences and documents, from arrays, frames, files and streams."""
