"""The plan of a count: what its tasks cost, which method does them, and how devices share them."""
