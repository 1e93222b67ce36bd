"""The webhook receiver: the suites' witness of what a service really sends.

`verification` judges a signature, `listener` and `inbox` keep what arrives, `script` says what to answer, `authority`
makes the certificates, `api` and `client` are the two ends of the control API, and `cli` is the command line.
"""
