"""Takes in evidence: examines it, learns its credentials, and writes it masked.

Checks judge what came, and so does whatever needs a secret in clear, such as which secret signed.
Only what is written is masked.
"""

import threading
from collections.abc import Callable

from hookproof.conformance.model.evidence import Evidence, Observation
from hookproof.conformance.results.redaction import Mask
from hookproof.spec.dialect.model import Dialect


class Intake:
    """Takes in the evidence of one run; thread-safe. `write` is called with all of it, masked."""

    def __init__(
        self, mask: Mask, dialect: Dialect, write: Callable[[Evidence], None] | None = None
    ):
        self.mask = mask
        self._dialect = dialect
        self._write = write
        # What was written, in order, and how many credentials were known then.
        self._written: list[tuple[int, Evidence]] = []
        self._lock = threading.Lock()

    def take(self, evidence: Evidence) -> Evidence:
        """Examine and keep evidence; raises TypeError or ValueError if it is not JSON."""
        return self.keep(self.examined(evidence))

    def examined(self, evidence: Evidence) -> Evidence:
        """Examine evidence that may still be thrown away; raises as `take` does."""
        if isinstance(evidence, Observation):
            evidence = evidence.examined(self._dialect)
        self.mask.learn_evidence(evidence)
        return evidence

    def keep(self, evidence: Evidence) -> Evidence:
        """Write evidence, masked; what came is returned."""
        if self._write is not None:
            with self._lock:
                masked = self.mask.evidence(evidence)
                self._written.append((self.mask.known_count, evidence))
                self._write(masked)
        return evidence

    def shown_early(self) -> dict[int, Evidence]:
        """What was written before it was known to show a credential, masked, by its place."""
        with self._lock:
            places = [*self.mask.shown_early(self._written)]
            return {place: self.mask.evidence(self._written[place][1]) for place in places}
