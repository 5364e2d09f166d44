"""Searches for cycles, one by one or by sampling."""
