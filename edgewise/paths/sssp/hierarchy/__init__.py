"""Contraction hierarchies: vertices of low degree are eliminated once, and every search skips them.

A search of a road network or of long paths has thousands of levels of a few vertices.  On a GPU each level
costs as much as a level of thousands, so that most of the time nothing is computed.  Elimination makes the
paths short: a vertex is taken out of the graph, and its neighbours are joined by *shortcuts* as long as the
paths through it, so that all distances between the vertices that remain are kept.  Neighbours are never
eliminated in the same round, so a round is parallel.  After some rounds the *core* is left.

The *rank* of a vertex is its place in the order of elimination, with the core at the end.  The row of a
vertex has the neighbours that it had when it was eliminated, all of which have a higher rank, and the lengths
of the edges or shortcuts.  Every shortest path can be taken as one that first ascends by rank, then crosses
the core, and descends.  A search therefore has two steps:

1. A search along these rows only: it ascends from the sources and ends with the distances in the core.
2. A sweep through the rounds from the last to the first.  A vertex takes the least distance that its row
   offers, whose vertices have theirs already.

This is the search from one to all of PHAST on the hierarchies of Geisberger et al., without their search for
shortcuts that are not needed, and with a core, since the last rounds would eliminate few vertices each.

R. Geisberger, P. Sanders, D. Schultes and D. Delling, "Contraction hierarchies: faster and simpler
hierarchical routing in road networks" (WEA 2008); D. Delling, A. Goldberg, A. Nowatzyk and R. Werneck,
"PHAST: hardware-accelerated shortest path trees" (IPDPS 2011).
"""
