"""Shortest paths: breadth-first search, single-source shortest paths, all pairs."""
