"""Questions about places: what lies within a distance of each, and which of them are the nearest."""
