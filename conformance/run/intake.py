"""Takes in evidence: examines it while it is in clear, then masks it, then passes it on.

Whatever needs a secret in clear (which secret signed, whether a secret has the dialect's form) is
examined here, once. After that keys and credentials are replaced by names. Only masked evidence is
judged, written and shown.
"""

import threading
from collections.abc import Callable

from hookproof.conformance.model.evidence import Evidence, Exchange, Observation
from hookproof.conformance.results.redaction import Mask
from hookproof.spec.dialect.model import Dialect


class Intake:
    """Takes in the evidence of one run; thread-safe. `keep` is called with all masked evidence."""

    def __init__(
        self, mask: Mask, dialect: Dialect, keep: Callable[[Evidence], None] = lambda _: None
    ):
        self._mask = mask
        self._dialect = dialect
        self._keep = keep
        self._lock = threading.Lock()

    def take(self, evidence: Evidence) -> Evidence:
        """Examine, mask and keep evidence; raises TypeError or ValueError if it is not JSON."""
        return self.keep(self.masked(evidence))

    def masked(self, evidence: Evidence) -> Evidence:
        """Examine and mask evidence that may still be thrown away; raises as `take` does."""
        if isinstance(evidence, Observation):
            evidence = evidence.examined(self._dialect)
        with self._lock:
            return self._mask.evidence(evidence)

    def keep(self, masked: Evidence) -> Evidence:
        """Pass masked evidence on."""
        with self._lock:
            self._keep(masked)
        return masked

    def exchange(self, exchange: Exchange) -> Exchange:
        with self._lock:
            return self._mask.exchange(exchange)

    def unmask(self, content: bytes) -> bytes:
        """Put credentials back into a masked request body, so that it can be sent again."""
        return self._mask.unmask(content)

    def text(self, text: str) -> str:
        with self._lock:
            return self._mask.text(text)

    def quotation(self, text: str) -> str:
        with self._lock:
            return self._mask.quotation(text)
