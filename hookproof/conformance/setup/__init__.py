"""`hookproof init`: ask what testing a server takes, examine it, and write it down."""
