"""Judges a consumer of webhooks: what it takes, what it refuses, and what comes of it."""
