"""Tests the suites themselves: servers with one fault each, which the suites must detect.

A *mutant* is the reference server with one fault of its catalogue. A fault is killed when a check
detects every requirement that the fault names, and no check detects any other. A *conforming
variant* differs only in what the document allows: every requirement must pass. The reference server
is used only through its command line.
"""
