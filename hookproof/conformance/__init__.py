"""The suites that judge a server: experiments gather evidence, checks judge it, a ledger keeps the
verdicts.
"""
