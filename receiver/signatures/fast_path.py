"""A quick look at a signature of the plainest shape, which is what nearly every delivery carries.

`QuickCheck` knows beforehand what a dialect's templates and a token's secrets come to, so that it
costs little on the way of every request. It says only "certainly verified": whatever it does not
recognise, whole or in part, is for `verification.verify` to judge, which alone can say why not. So
it may be narrow, and must never be wrong.
"""

import base64
import hmac
import re
from collections.abc import Sequence
from typing import Final

from hookproof.receiver.inbox.arrival import RawHeaders
from hookproof.receiver.signatures.secret_key import secret_key
from hookproof.spec.dialect.model import Secrets, SignatureScheme
from hookproof.spec.dialect.vocabulary import Encoding

PLACES: Final = re.compile(r"\{(id|timestamp|body|signatures|signature|version)\}")
LONGEST_NUMBER: Final = 20
SHAPES: Final = {
    "timestamp": rb"(?P<timestamp>[0-9]{1,20})",
    "signatures": rb"(?P<signatures>[!-~]+)",
}


class QuickCheck:
    """Looks at deliveries of one scheme and these secrets."""

    def __init__(
        self, scheme: SignatureScheme, rules: Secrets, secrets: Sequence[str], event_id_header: str
    ) -> None:
        self._keys = [secret_key(rules, secret) for secret in secrets]
        self._hash = scheme.hash.value
        self._hex = scheme.encoding is Encoding.HEX
        self._unit_s = scheme.timestamp_unit.in_seconds
        self._tolerance_s = scheme.tolerance_s
        self._signed = [
            (place % 2 == 1, part) for place, part in enumerate(PLACES.split(scheme.signed))
        ]
        self._value = _pattern(scheme.value)
        version = scheme.versions[0] if scheme.versions else ""
        before, _, after = scheme.item.replace("{version}", version).partition("{signature}")
        self._before, self._after = before.encode(), after.encode()
        self._headers = {
            scheme.header.lower().encode(): "value",
            event_id_header.lower().encode(): "id",
        }
        if scheme.timestamp_header is not None:
            self._headers[scheme.timestamp_header.lower().encode()] = "timestamp"

    def certain(self, headers: RawHeaders, body: bytes, now: float) -> bool:
        """Whether a delivery is certainly verified at `now`, in Unix seconds; False says nothing."""
        fields = self._fields(headers)
        if fields is None:
            return False
        signature = fields.pop("signatures")
        stamp = fields.get("timestamp")
        if stamp is not None and not self._timely(stamp, now):
            return False
        try:
            signed = b"".join(
                [
                    body if part == "body" else fields[part] if named else part.encode()
                    for named, part in self._signed
                ]
            )
        except KeyError:
            return False
        return any([hmac.compare_digest(self._item(key, signed), signature) for key in self._keys])  # noqa: C419

    def _fields(self, headers: RawHeaders) -> dict[str, bytes] | None:
        """What the headers hold by the templates' words; None where they are not plain."""
        if self._value is None:
            return None
        found: dict[str, bytes] = {}
        for name, value in headers:
            word = self._headers.get(name.lower())
            if word is not None:
                if word in found:
                    return None
                found[word] = value
        matched = self._value.fullmatch(found.pop("value", b""))
        if matched is None or not found.get("id", b"").isascii():
            return None
        within = matched.groupdict()
        if "timestamp" in within and "timestamp" in found:
            return None
        return found | within

    def _timely(self, stamp: bytes, now: float) -> bool:
        if not stamp.isdigit() or len(stamp) > LONGEST_NUMBER:
            return False
        return abs(now - int(stamp) * self._unit_s) <= self._tolerance_s

    def _item(self, key: bytes, signed: bytes) -> bytes:
        mac = hmac.digest(key, signed, self._hash)
        return (
            self._before
            + (mac.hex().encode() if self._hex else base64.b64encode(mac))
            + self._after
        )


def _pattern(template: str) -> "re.Pattern[bytes] | None":
    """A template of a header's value as a pattern; None for one with other words than the plain
    ones.
    """
    pattern = b""
    for place, part in enumerate(PLACES.split(template)):
        if place % 2 == 0:
            pattern += re.escape(part.encode())
        elif part not in SHAPES or SHAPES[part] in pattern:
            return None
        else:
            pattern += SHAPES[part]
    return re.compile(pattern)
