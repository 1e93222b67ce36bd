"""Hookproof proves that a webhook delivery service keeps its word.

This is the one importable name. `hookproof.spec`, `hookproof.mockserver`, `hookproof.receiver`,
`hookproof.conformance` and `hookproof.load` are top-level folders of the repository, linked here;
in a wheel they are ordinary folders.
"""
