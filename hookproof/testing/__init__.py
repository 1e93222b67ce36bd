"""Receiver and reference server for the tests of teams that consume webhooks.

`hookproof.Receiver` and `hookproof.Service` are the names to import, and the fixtures of the pytest
plugin are the same.
"""
