"""The verdicts and their order."""

from enum import IntEnum


class Verdict(IntEnum):
    """The verdict on a requirement; of several verdicts the highest counts."""

    NOT_APPLICABLE = 0
    PASS = 1
    NOT_EXERCISED = 2
    FAIL = 3
    ERROR = 4

    @property
    def key(self) -> str:
        """The name in files."""
        return self.name.lower()

    @property
    def words(self) -> str:
        """The name for people."""
        return self.key.replace("_", " ")
