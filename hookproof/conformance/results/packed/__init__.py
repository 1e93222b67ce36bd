"""A run as one file: a zip archive with checksums, which can be signed."""
