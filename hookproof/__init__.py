"""Hookproof proves that a webhook delivery service keeps its word.

This is the one importable name. `hookproof.spec`, `hookproof.mockserver`, `hookproof.receiver`,
`hookproof.conformance` and `hookproof.load` are the top-level folders of the repository, which
are linked here; in a wheel they are plain folders.
"""
