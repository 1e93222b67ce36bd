"""How a user describes the server under test: target.yaml and the options of the command line.

`hookproof check` and `hookproof load` read the same file; each uses what it needs.
"""
