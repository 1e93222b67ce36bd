"""The contract: what the document says about the service, and what it leaves to a dialect."""
