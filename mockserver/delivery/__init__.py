"""Takes stored deliveries to their endpoints: signed, in time and never too fast (sections 4.8, 6,
8).
"""
