"""The server's storage: one SQLite database, in memory or in a file."""
