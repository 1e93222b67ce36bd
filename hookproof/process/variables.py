"""Environment variables by which commands give each other what must not be in their arguments."""

from typing import Final

# The projects of `hookproof serve` and their API keys: ID=KEY, with spaces between them.
PROJECTS_VARIABLE: Final = "HOOKPROOF_PROJECTS"
