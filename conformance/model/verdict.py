"""The verdicts and their order."""

from enum import IntEnum


class Verdict(IntEnum):
    """What is known of a requirement; of several verdicts the highest counts."""

    NOT_APPLICABLE = 0
    PASS = 1
    NOT_EXERCISED = 2
    FAIL = 3
    ERROR = 4

    @property
    def key(self) -> str:
        """The word used in files."""
        return self.name.lower()

    @property
    def words(self) -> str:
        """The word for a reader."""
        return self.key.replace("_", " ")
