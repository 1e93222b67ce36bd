"""The webhook receiver: the suites' witness of what a service really sends.

`verification` judges a signature, `bisection` says why one is bad and `judgement` says both of a delivery; `listener`
and `inbox` keep what arrives, `script` says what to answer, `watch` and `display` tell it to a person, `authority`
makes the certificates, `api` and `client` are the two ends of the control API, and `cli` is the command line.
"""
