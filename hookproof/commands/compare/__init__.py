"""The command `hookproof compare`: what differs between runs."""
