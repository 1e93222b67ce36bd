"""One package per subject: `experiment` tries, `evidence` is what was seen, `laws` judge it.

The registries import the modules of these names; nothing else is to be said to add a subject.
"""
