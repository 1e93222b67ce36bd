"""The webhook receiver: the suites' witness of what a service really sends.

`verification` judges a signature, `bisection` says why one is bad and `judgement` says both of a
delivery; `listener` and `inbox` keep what arrives, `script`, `answer` and `player` say what to
answer and send it, `token_server` issues OAuth 2 tokens, `session` keeps users apart; `watch` and
`display` tell it to a person, and `dashboard` to a browser; `authority` makes the certificates,
`api` and `client` are the ends of the control API, and `cli` is the command line.
"""
