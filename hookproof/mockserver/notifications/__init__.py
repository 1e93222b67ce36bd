"""Notifications to an endpoint's contacts, by e-mail and chat (section 6)."""
