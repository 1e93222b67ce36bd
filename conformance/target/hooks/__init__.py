"""The provision hooks: what the eight operations can neither create nor arrange, done by the
target's own people.
"""
