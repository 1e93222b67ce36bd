"""Operators on deliveries: what attempts send, what follows them, and whom they reach."""
