"""Simple cycles of a given length through every vertex."""
