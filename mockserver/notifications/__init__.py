"""Telling an endpoint's contacts, by e-mail and chat, about deliveries given up and changes of
state (section 6).
"""
