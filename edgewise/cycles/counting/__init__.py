"""Counts of short cycles by formulas: triangles, squares, pentagons and hexagons, a page per length."""
