"""Clusters inside other tools: Splink, Polars, pandas, datatrove and Spark, a page each.

None of these libraries is needed by edgewise.  Each page imports its own library when it is imported.
"""
