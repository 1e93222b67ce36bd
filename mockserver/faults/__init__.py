"""Misbehaviour on demand, for people who test their API clients; a server without it never comes near this package."""
