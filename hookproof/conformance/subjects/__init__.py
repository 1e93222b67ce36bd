"""One package per subject: `experiment` tries, `evidence` is what was seen, `laws` judge it.

The registries import the modules of these names; nothing else is to be said to add a subject. Laws
may judge the evidence of another subject. What the experiments of several subjects call or observe,
and what several laws judge with, is in `experiments`, `observations` and `checks`.
"""
