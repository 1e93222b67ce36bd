"""A fast check of the plainest signatures, which nearly every delivery carries.

`FastPath` prepares a dialect's templates and a token's secrets once, so it adds little to each
request. Its only positive result is "certainly verified": anything that it does not recognise is
left to `verification.verify`, which alone can say why not. So it may be narrow but must never be
wrong.
"""

import hmac
import re
from collections.abc import Sequence
from typing import Final

from hookproof.receiver.inbox.arrival import RawHeaders
from hookproof.receiver.signatures.bytes_as_text import to_text
from hookproof.receiver.signatures.signed_message import PLACEHOLDER, label_at
from hookproof.receiver.signatures.verification import secret_key
from hookproof.spec.dialect.signature_scheme import Secrets, SignatureScheme
from hookproof.spec.dialect.vocabulary import Algorithm, SignatureTime

LONGEST_NUMBER: Final = 20
SHAPES: Final = {
    "timestamp": rb"(?P<timestamp>[0-9]{1,20})",
    "signatures": rb"(?P<signatures>[!-~]+)",
}


class FastPath:
    """Checks deliveries of one scheme and these secrets."""

    def __init__(
        self,
        scheme: SignatureScheme,
        rules: Secrets,
        secrets: Sequence[str],
        event_id_header: str | None,
    ) -> None:
        self._keys = [secret_key(rules, secret) for secret in secrets]
        self._hash = scheme.hash.value
        self._encoding = scheme.encoding
        self._unit_s = scheme.timestamp_unit.in_seconds
        self._tolerance_s = scheme.tolerance_s
        # The parts of what is signed: bytes as they are, and the names of fields.
        self._signed = [
            part if index % 2 else part.encode()
            for index, part in enumerate(PLACEHOLDER.split(scheme.signed))
        ]
        # Others are left to the verifier: what they cost hides what this saves.
        is_usual = (
            scheme.algorithm is Algorithm.HMAC
            and scheme.timestamp_unit is not SignatureTime.RFC3339
        )
        self._value = _pattern(scheme.value) if is_usual else None
        item = scheme.item.replace("{version}", label_at(scheme, 0))
        before, _, after = item.partition("{signature}")
        self._before, self._after = before.encode(), after.encode()
        self._headers = {scheme.header.lower().encode(): "value"}
        if event_id_header is not None:
            self._headers[event_id_header.lower().encode()] = "id"
        if scheme.timestamp_header is not None:
            self._headers[scheme.timestamp_header.lower().encode()] = "timestamp"

    def is_certain(self, headers: RawHeaders, body: bytes, now: float) -> bool:
        """Whether a delivery is certainly verified at `now`, in Unix seconds.

        False means that it has to be verified in full.
        """
        fields = self._fields(headers)
        if fields is None:
            return False
        signature = fields.pop("signatures")
        timestamp = fields.get("timestamp")
        if timestamp is not None and not self._is_recent(timestamp, now):
            return False
        fields["body"] = body
        try:
            signed = b"".join(
                [fields[part] if isinstance(part, str) else part for part in self._signed]
            )
        except KeyError:
            return False
        # A list, since it is faster than a generator for the one or two keys that there are.
        matches = [
            hmac.compare_digest(self._expected_item(key, signed), signature) for key in self._keys
        ]
        return any(matches)

    def _fields(self, headers: RawHeaders) -> dict[str, bytes] | None:
        """The header fields by their placeholder names; None if the headers are not plain."""
        if self._value is None:
            return None
        fields: dict[str, bytes] = {}
        for name, value in headers:
            placeholder = self._headers.get(name.lower())
            if placeholder is not None:
                if placeholder in fields:
                    return None
                fields[placeholder] = value
        match = self._value.fullmatch(fields.pop("value", b""))
        if match is None or not fields.get("id", b"").isascii():
            return None
        in_value = match.groupdict()
        if "timestamp" in in_value and "timestamp" in fields:
            return None
        return fields | in_value

    def _is_recent(self, timestamp: bytes, now: float) -> bool:
        if not timestamp.isdigit() or len(timestamp) > LONGEST_NUMBER:
            return False
        return abs(now - int(timestamp) * self._unit_s) <= self._tolerance_s

    def _expected_item(self, key: bytes, signed: bytes) -> bytes:
        mac = hmac.digest(key, signed, self._hash)
        return self._before + to_text(self._encoding, mac).encode() + self._after


def _pattern(template: str) -> "re.Pattern[bytes] | None":
    """A header's template as a pattern; None if it has other placeholders than the plain ones."""
    pattern = b""
    for index, part in enumerate(PLACEHOLDER.split(template)):
        if index % 2 == 0:
            pattern += re.escape(part.encode())
        elif part not in SHAPES or SHAPES[part] in pattern:
            return None
        else:
            pattern += SHAPES[part]
    return re.compile(pattern)
