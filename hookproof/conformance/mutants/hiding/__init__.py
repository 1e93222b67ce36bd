"""Measures what a server that is wrong in one way, or in two, keeps the suites from seeing.

A *spoiler* is a deviation of the reference server that spoils answers, identifiers, secrets, lists
or a whole operation. Requirements that are exercised against the clean server and not against the
spoiled one are lost; `spoilers.yaml` names each that a spoiler may hide, with the reason.
"""
