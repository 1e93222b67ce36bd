"""The webhook receiver: the suites' witness of what a service really sends.

`verification` judges a signature, `listener` and `inbox` keep what arrives, `script`, `answer` and `player` say what to
answer and send it, `token_server` issues OAuth 2 tokens, `session` keeps users apart, `authority` makes the
certificates, `api` and `client` are the two ends of the control API, and `cli` is the command line.
"""
