"""Why a signature does not verify: the search for the mistake that its sender made (section 6, item
3).

    found = bisect(scheme, rules, secrets, headers, event_id_header, body, now, known=Known())
    found.cause        # "signed the compact form of the body, sent it with spaces"
    found.deviations   # the same, one by one

`deviation` holds the words of an answer. Each other module knows one kind of mistake: `readings`
the header and the encoding, `keys` the secret, `bodies` and `json_text` the bytes, `joins` what
they are joined with, `times` the time, `digests` the hash. `search` tries them together, the
simplest explanation first.
"""

from hookproof.receiver.signatures.diagnosis.deviation import Aspect, Bisection, Deviation
from hookproof.receiver.signatures.diagnosis.known_values import Known
from hookproof.receiver.signatures.diagnosis.search import bisect

__all__ = ["Aspect", "Bisection", "Deviation", "Known", "bisect"]
