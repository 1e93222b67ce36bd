"""How much a run tries."""

from enum import IntEnum


class Profile(IntEnum):
    """How much a run tries; a heavier profile includes the lighter ones."""

    QUICK = 0
    STANDARD = 1
    DEEP = 2

    @property
    def key(self) -> str:
        """The name on the command line and in reports."""
        return self.name.lower()
