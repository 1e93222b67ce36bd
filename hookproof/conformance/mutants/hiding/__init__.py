"""Measures what a server that is wrong in one way, or in two, keeps the suites from seeing.

A *hiding server* is the reference server with a deviation that spoils answers, identifiers,
secrets, lists or a whole operation. Requirements that are exercised against the clean server and
not against the spoiled one are lost; `hiding_servers.yaml` names each that may be hidden, with the
reason.
"""
