"""Where evidence comes in: looked at while it is whole, then masked, then kept.

Whatever needs a secret in clear (which secret signed, whether one has the dialect's form) is
observed here, once. From here on keys and credentials have names, and only masked evidence is
judged, written and shown.
"""

import threading
from collections.abc import Callable

from hookproof.conformance.model.evidence import Evidence, Exchange, Observation
from hookproof.conformance.results.redaction import Mask
from hookproof.spec.dialect.model import Dialect


class Intake:
    """Takes in the evidence of one run; may be used from any thread.

    `keep` is called with each masked observation.
    """

    def __init__(
        self, mask: Mask, dialect: Dialect, keep: Callable[[Evidence], None] = lambda _: None
    ):
        self._mask = mask
        self._dialect = dialect
        self._keep = keep
        self._lock = threading.Lock()

    def take(self, evidence: Evidence) -> Evidence:
        """The evidence as it may be kept; raises TypeError or ValueError if it is not JSON."""
        if isinstance(evidence, Observation):
            evidence = evidence.examined(self._dialect)
        with self._lock:
            masked = self._mask.evidence(evidence)
            self._keep(masked)
        return masked

    def exchange(self, exchange: Exchange) -> Exchange:
        """An exchange as it may be kept."""
        with self._lock:
            return self._mask.exchange(exchange)

    def in_clear(self, content: bytes) -> bytes:
        """A masked request body as it was, to be sent once more."""
        return self._mask.in_clear(content)

    def text(self, text: str) -> str:
        """A text as it may be shown."""
        with self._lock:
            return self._mask.text(text)
