"""The matrix: many runs against all requirements."""
