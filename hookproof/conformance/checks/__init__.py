"""What is judged: one module per subject, each check a sentence bound to requirement ids."""
