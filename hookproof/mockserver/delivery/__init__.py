"""Sends stored deliveries to their endpoints: signed, within their limits, with retries.

Sections 4.8, 6 and 8. Start with `engine.py`.
"""
