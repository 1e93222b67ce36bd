"""Everything the server remembers, in one SQLite database: in memory, or in a file that survives
the process.
"""
