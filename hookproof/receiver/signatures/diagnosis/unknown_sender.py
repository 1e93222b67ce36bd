"""How a sender signs that no known scheme describes, found by the right secret and the right body.

Every header that may hold a signature is tried with every usual way to join body, time, identifier
and URL. What is found is told in words and, where a scheme can say it, as the fields of one.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import Final, NamedTuple

import yaml

from hookproof.receiver.signatures.bytes_as_text import decode_base64, loose_base64
from hookproof.receiver.signatures.diagnosis.deviation import Aspect, Deviation, Diagnosis
from hookproof.receiver.signatures.diagnosis.digest_variants import HASHES, Digest
from hookproof.receiver.signatures.diagnosis.header_repairs import KINDS, WORD, plain_name
from hookproof.receiver.signatures.diagnosis.signature_readings import ENCODING_NAMES
from hookproof.receiver.signatures.schemes.request_parts import RequestLine
from hookproof.receiver.signatures.signed_message import ANY_PART, Headers
from hookproof.spec.dialect.vocabulary import BASE64_VARIANTS, Algorithm, Encoding

# In bytes hashed, plus this for each hash; for each phase.
MOST_EFFORT: Final = 3 * 2**20
EFFORT_OF_A_HASH: Final = 2048
EFFORT_OF_A_PUBLIC_KEY: Final = 32 * 1024

ENCODED: Final = re.compile(r"[0-9A-Za-z+/_-]{20,128}={0,2}")
TIME: Final = re.compile(
    r"(?<![0-9A-Za-z])(?:[0-9]{10}|[0-9]{13}|\d{4}-\d\d-\d\dT[\d:.]{5,18}(?:Z|[+-]\d\d:?\d\d))"
    r"(?![0-9A-Za-z])"
)
MOST_TIMES: Final = 3
MOST_IDENTIFIERS: Final = 2
SECONDS: Final = 10  # digits
SEPARATORS: Final = (".", "", ":", "|", ",", "\n", "-", "_", "&", ";", "/", " ")
LABELS: Final = ("v0", "v1")
WITH_URL: Final = ("{url}{body}", "{body}{url}", "{method}{url}{body}")
HASH_OF_SIZE: Final = {16: "md5", 20: "sha1", 32: "sha256", 48: "sha384", 64: "sha512"}
ED25519_SIZE: Final = 64
ED25519_KEY: Final = 32
IN_SCHEMES: Final = frozenset({"sha1", "sha256", "sha512"})


class Reading(NamedTuple):
    """How the text of a secret becomes the key, in words and as a field of a scheme, if one can."""

    words: str
    field: Mapping[str, str] | None
    key: Callable[[str], bytes]


def _without_prefix(text: str) -> str:
    return text.partition("_")[2]


READINGS: Final = (
    Reading("", {}, str.encode),
    Reading(
        "the secret decoded from base64",
        {"form": "base64"},
        lambda text: decode_base64("base64", text, any_padding=True),
    ),
    Reading("the secret decoded from hex", {"form": "hex"}, bytes.fromhex),
    Reading(
        "the secret decoded from base64 behind its prefix",
        None,
        lambda text: loose_base64(_without_prefix(text)),
    ),
    Reading("the secret with & after it", None, lambda text: f"{text}&".encode()),
)
TEXT, OTHERS, DECODED = READINGS[:1], READINGS[1:], READINGS[1:3]
# Which keys are tried in which ways, the likeliest first.
PHASES: Final = (
    (TEXT, ("hmac",)),
    (DECODED, (Algorithm.ED25519,)),
    (OTHERS, ("hmac",)),
    (TEXT, ("key first", "key last")),
)


class Candidate(NamedTuple):
    """A text in a header that may be a signature."""

    header: str
    value: str
    text: str
    encoding: Encoding


class Message(NamedTuple):
    """What may be signed; `time` and `identifier` are headers and their texts."""

    template: str
    time: tuple[str, str]
    identifier: tuple[str, str]
    content: bytes


class SigningForm(NamedTuple):
    """One way to sign."""

    candidate: Candidate
    message: Message
    kind: str
    hash: str
    reading: Reading


def form_of_unknown_sender(
    secrets: Sequence[str], headers: Headers, body: bytes, line: RequestLine | None
) -> Diagnosis | None:
    """What explains a delivery that no scheme describes; None if nothing that is tried does."""
    search = _Search(secrets, headers, body, line)
    form = search.run()
    if form is None:
        return None
    words = f"signed as no known scheme says, by this secret: {_words(form)}"
    return Diagnosis(
        cause=words,
        deviations=(Deviation(aspect=Aspect.HEADER, words=words, remedy="unknown sender"),),
        explained=True,
        hashes=search.hashes,
        signed_body=body,
        scheme_lines=_scheme_lines(form),
    )


class _Search:
    def __init__(
        self, secrets: Sequence[str], headers: Headers, body: bytes, line: RequestLine | None
    ) -> None:
        self.hashes = 0
        self._effort = 0
        self._secrets = secrets
        self._body = body
        self._line = line
        self._candidates: dict[bytes, Candidate] = {}
        for content, candidate in _candidates(headers):
            self._candidates.setdefault(content, candidate)
        self._sizes = {len(signature) for signature in self._candidates}
        self._times = list(
            dict.fromkeys((name, text) for name, value in headers for text in TIME.findall(value))
        )[:MOST_TIMES]
        usual, looks = KINDS["identifier"]
        self._identifiers = [
            (name, value)
            for name, value in headers
            if usual.fullmatch((WORD.findall(plain_name(name).lower()) or [""])[-1])
            and looks.fullmatch(value)
        ][:MOST_IDENTIFIERS]

    def run(self) -> SigningForm | None:
        if not self._candidates:
            return None
        for readings, kinds in PHASES:
            self._effort = 0
            keys = list(self._keys(readings))
            for message in self._messages() if keys else ():
                if self._effort > MOST_EFFORT:
                    break
                found = self._signed_with(message, keys, kinds)
                if found is not None:
                    return found
        return None

    def _keys(self, readings: Sequence[Reading]) -> Iterator[tuple[Reading, bytes]]:
        for reading, secret in product(readings, self._secrets):
            try:
                key = reading.key(secret)
            except ValueError:
                continue
            if key:
                yield reading, key

    def _signed_with(
        self, message: Message, keys: Sequence[tuple[Reading, bytes]], kinds: Sequence[str]
    ) -> SigningForm | None:
        for (reading, key), kind, size in product(keys, kinds, self._sizes):
            if kind == Algorithm.ED25519 and (size, len(key)) != (ED25519_SIZE, ED25519_KEY):
                continue
            digest = self._digest(HASH_OF_SIZE[size], kind, key, message.content)
            candidate = self._candidates.get(digest)
            if candidate is not None:
                return SigningForm(candidate, message, kind, HASH_OF_SIZE[size], reading)
        return None

    def _digest(self, name: str, kind: str, key: bytes, content: bytes) -> bytes:
        is_public = kind == Algorithm.ED25519
        self.hashes += 1
        self._effort += len(content) + (EFFORT_OF_A_PUBLIC_KEY if is_public else EFFORT_OF_A_HASH)
        signatures = tuple(each for each in self._candidates if len(each) == ED25519_SIZE)
        digest = Digest(hash=name, kind=kind, signatures=signatures if is_public else None)
        try:
            return digest.compute(key, content)
        except ValueError:  # some machines have no MD5
            return b""

    def _messages(self) -> Iterator[Message]:
        """Everything that may be signed, the simplest first."""
        nothing = ("", "")
        times, identifiers = self._times or [nothing], self._identifiers or [nothing]
        for template in self._templates():
            for time, identifier in product(
                times if "{timestamp}" in template else [nothing],
                identifiers if "{id}" in template else [nothing],
            ):
                yield Message(template, time, identifier, self._joined(template, time, identifier))

    def _joined(self, template: str, time: tuple[str, str], identifier: tuple[str, str]) -> bytes:
        fields = {
            "body": self._body,
            "timestamp": time[1].encode(errors="replace"),
            "id": identifier[1].encode(errors="replace"),
            "url": self._line.url.encode() if self._line else b"",
            "method": self._line.method.encode() if self._line else b"",
        }
        parts = ANY_PART.split(template)
        return b"".join(
            [fields[part] if index % 2 else part.encode() for index, part in enumerate(parts)]
        )

    def _templates(self) -> Iterator[str]:
        yield "{body}"
        if self._line is not None:
            yield from WITH_URL
        sent = {"timestamp": bool(self._times), "id": bool(self._identifiers)}
        names = [name for name, is_there in sent.items() if is_there]
        for count in range(1, len(names) + 1):
            for chosen in permutations(["body", *names], count + 1):
                if "body" in chosen:
                    for separator in SEPARATORS:
                        joined = separator.join(f"{{{name}}}" for name in chosen)
                        yield joined
                        if chosen == ("timestamp", "body") and separator:
                            yield from (f"{label}{separator}{joined}" for label in LABELS)


def _candidates(headers: Headers) -> Iterator[tuple[bytes, Candidate]]:
    """The bytes of everything that may be a signature, and where they stand; the first counts."""
    for name, value in headers:
        for text in ENCODED.findall(value):
            for encoding in Encoding:
                try:
                    content = (
                        bytes.fromhex(text)
                        if encoding is Encoding.HEX
                        else decode_base64(encoding, text)
                        if encoding in BASE64_VARIANTS
                        else b""
                    )
                except ValueError:
                    continue
                if len(content) in HASH_OF_SIZE:
                    yield content, Candidate(plain_name(name), value, text, encoding)


def _words(form: SigningForm) -> str:
    candidate, message = form.candidate, form.message
    name, template = HASHES[form.hash], repr(message.template)
    made = {
        "hmac": f"HMAC-{name} of {template}",
        "key first": f"{name} of the secret and then {template}, without HMAC",
        "key last": f"{name} of {template} and then the secret, without HMAC",
        Algorithm.ED25519: f"ed25519 of {template}",
    }[form.kind]
    time_header, time = message.time
    unit = {SECONDS: "seconds", SECONDS + 3: "milliseconds"}.get(len(time), "RFC 3339")
    parts = [
        f"{made} in {ENCODING_NAMES[candidate.encoding]}",
        f"the key is {form.reading.words}" if form.reading.words else "",
        f"in the header {candidate.header}",
        f"its time in {unit} in {plain_name(time_header)}" if time else "",
        f"its identifier in {plain_name(message.identifier[0])}" if message.identifier[1] else "",
    ]
    return ", ".join(filter(None, parts))


def _scheme_lines(form: SigningForm) -> tuple[str, ...]:
    """The fields of a scheme that says this, where they are not the defaults; none if none can."""
    candidate, message = form.candidate, form.message
    time_header, time = message.time
    in_own_header = bool(time) and plain_name(time_header) == candidate.header
    value = candidate.value.replace(candidate.text, "{signatures}", 1)
    if in_own_header:
        value = value.replace(time, "{timestamp}", 1)
    sayable = (
        form.reading.field is not None
        and form.kind != "key last"
        and (form.hash in IN_SCHEMES or form.kind == Algorithm.ED25519)
        and "{" not in candidate.value
    )
    if not sayable:
        return ()
    algorithm = {"hmac": "hmac", "key first": "plain_hash"}.get(form.kind, str(form.kind))
    unit = {SECONDS: "seconds", SECONDS + 3: "milliseconds"}.get(len(time), "rfc3339")
    fields = {
        "header": (candidate.header, ""),
        "algorithm": (algorithm, "hmac"),
        "hash": (form.hash, "sha256"),
        "encoding": (candidate.encoding.value, "hex"),
        "value": (value, "{signatures}"),
        "timestamp_header": (plain_name(time_header) if time and not in_own_header else "", ""),
        "timestamp": (unit if time else "seconds", "seconds"),
        "id_header": (plain_name(message.identifier[0]), ""),
        "signed": (message.template, "{body}"),
        "secret": (dict(form.reading.field or {}), {}),
    }
    needed = {name: value for name, (value, default) in fields.items() if value != default}
    return tuple(yaml.safe_dump(needed, sort_keys=False, width=1000).splitlines())
