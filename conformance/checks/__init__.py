"""What is judged: one module per section of the document, each check a sentence bound to
requirement ids.
"""
