"""Who judges the judge: servers with one fault each, and the proof that the suites convict them and
nobody else.

A *mutant* is the reference server with one fault of its catalogue. A fault is killed when every
requirement that it names is convicted by a check that is bound to it, and no other requirement is.
An *innocent* is a variant that the document allows: it must be acquitted of everything. The
reference server is known by its command line alone.
"""
