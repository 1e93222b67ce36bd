"""Faults that operators make, at every place of the contract at which they make sense.

An *operator* (`operator.py`) says in one sentence what is wrong: a text is cut, a filter is
ignored. A *place* (`place.py`, `places.py`) is a field that an operation takes, stores or shows, an
operation's writes or answers, a list, a filter, or the access to an operation; places are read from
the contract. An operator at a place is a *generated fault*, a class in place of one collaborator as
those of the catalogue are, with a name that `hookproof serve --fault` accepts:

    text_cut@createEndpoint.stored.name:length=255

What it violates follows from its place: from the sentences of the catalogue, and from laws about
fields, each of which is in `laws.py` once. An operator that changes none of the values that a field
can hold (`telling.py`), or does what the dialect does anyway, makes an *equivalent* and says why.

Deliveries have places of their own (`delivery_places.py`), which name a part of what attempts send
and an attempt, an answer, a limit, or a number of rolls; their laws are in `delivery_laws.py`.

To add an operator, add it to the OPERATORS of a module in `kinds/`, and a place at which it shows
to `tests/mockserver/faults/operators/test_operator_effects.py`, or a test of its own that is named
there. A new kind of place is a member of PlaceKind, found in `places.py` or `delivery_places.py`.
"""
