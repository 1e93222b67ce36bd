"""The contract: what the document says of the service, and what it leaves open for a dialect to
answer.
"""
