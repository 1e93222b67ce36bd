"""The webhook receiver: it records what a service really sends, and checks the signatures.

`http` reads requests and sends replies, `inbox` keeps what arrives, `replies` defines what is
answered, and `signatures` verifies and diagnoses. `session` keeps the users of one receiver
apart. `control` is the control API, `client` talks to it, `dashboard` is the live page, and
`vectors` holds signed examples. `app` assembles the parts; `cli` has the commands.
"""
