"""Why a signature does not verify: a search for the sender's mistake (section 6, item 3).

     diagnosis = diagnose(scheme, rules, secrets, headers, event_id_header, body, now)
     diagnosis.cause        # "signed the compact form of the body, sent it with spaces"
     diagnosis.deviations   # the same, one by one

`deviation` defines the result. Each `*_variants` module knows one kind of mistake: `key_variants`
the secret, `body_variants` and `json_text` the bytes, `join_variants` how they are joined,
`time_variants` the time, `digest_variants` the hash; `signature_readings` reads header and
encoding. `search` combines them, the simplest explanation first; `unexplained` says what is known
where none fits. `unknown_sender` finds how senders sign that no scheme describes.
"""

from hookproof.receiver.signatures.diagnosis.deviation import (
    Aspect,
    Deviation,
    Diagnosis,
    KnownValues,
)
from hookproof.receiver.signatures.diagnosis.search import diagnose

__all__ = ["Aspect", "Deviation", "Diagnosis", "KnownValues", "diagnose"]
