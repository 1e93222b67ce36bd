"""How much a run tries."""

from enum import IntEnum


class Profile(IntEnum):
    """How much is tried; a heavier profile includes the lighter ones."""

    QUICK = 0
    STANDARD = 1
    DEEP = 2

    @property
    def key(self) -> str:
        """The word used on the command line and in reports."""
        return self.name.lower()
