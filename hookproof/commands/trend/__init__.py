"""The command `hookproof trend`: what became better or worse over the runs in a folder."""
