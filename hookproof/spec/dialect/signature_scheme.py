"""The fields of a dialect about signing secrets and the two signature formats (section 2.3)."""

from dataclasses import dataclass
from typing import Annotated

from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.constraints import (
    AMOUNT,
    HEADER,
    HEADER_TEXT,
    PRINTABLE,
    Placeholder,
    Range,
)
from hookproof.spec.dialect.vocabulary import (
    Algorithm,
    Encoding,
    Hash,
    OnInput,
    SecretForm,
    SignatureTime,
    SigningSecrets,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """Sections 2.3 and 2.4: the text of a signing secret."""

    prefix: Annotated[str, "what a secret's text begins with"]
    form: Annotated[SecretForm, "how the rest of the text becomes the key"]
    generated_bytes: Annotated[
        int, "random bytes in a secret that the service generates", Range(16)
    ]
    other_forms: Annotated[
        Answer[OnInput], "what happens to a given secret without this prefix and form"
    ]
    prefix_in_key: Annotated[bool, "whether the prefix is part of the key of the HMAC"] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureScheme:
    """Section 6, item 3: how one of the two signature formats is computed.

    `signed` and `value` are templates. `{body}` is the raw body, `{timestamp}` the time of the
    attempt, `{id}` the event's identifier, `{url}` the endpoint's URL as it was given, and
    `{signatures}` the items joined by `separator`. In an item, `{signature}` is the encoded HMAC
    and `{version}` the label at the secret's position; the last label is that of all further
    secrets, and a `{n}` in it the number of the position, from 1.

    Where the `algorithm` has public keys, the service may have one of its own, `public_key`, and
    no secret signs; otherwise each secret is the seed of a private key.
    """

    header: Annotated[str, "header that carries the signatures", HEADER]
    timestamp_header: Annotated[str | None, "header that carries the time; null: none", HEADER]
    hash: Annotated[Hash, "hash of the HMAC, or of what is signed otherwise"]
    encoding: Annotated[Encoding, "how a signature is written"]
    signed: Annotated[str, "bytes that are signed", Placeholder("body")]
    value: Annotated[str, "value of the header", Placeholder("signatures"), HEADER_TEXT]
    item: Annotated[str, "one signature within the value", Placeholder("signature"), HEADER_TEXT]
    separator: Annotated[str, "text between two signatures", PRINTABLE]
    versions: Annotated[tuple[str, ...], "labels of the signatures, in order", HEADER_TEXT]
    timestamp_unit: Annotated[SignatureTime, "unit of the time since 1970, or rfc3339"]
    secrets: Annotated[SigningSecrets, "living secrets that sign, in the order of their signatures"]
    tolerance_s: Annotated[
        float, "age or lead of the time that a receiver accepts, in seconds", AMOUNT
    ]
    algorithm: Annotated[Algorithm, "how a signature is made"] = Algorithm.HMAC
    public_key: Annotated[
        str | None,
        "public key of the service, by which its signatures are verified, in PEM or base64; null:"
        " secrets sign",
    ] = None
    private_key: Annotated[
        str | None, "private key by which the reference server signs for that; null: none"
    ] = None

    @property
    def is_secret_a_seed(self) -> bool:
        """Whether an endpoint's secret is the private key of its deliveries, of ed25519."""
        return self.algorithm is Algorithm.ED25519 and self.public_key is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Signatures:
    """Section 2.3: the two formats that advanced_signatures chooses between."""

    secret: Annotated[Secrets, "signing secrets"]
    simple: Annotated[SignatureScheme, "format when advanced_signatures is false"]
    advanced: Annotated[SignatureScheme, "format when advanced_signatures is true"]

    def scheme(self, *, advanced: bool) -> SignatureScheme:
        return self.advanced if advanced else self.simple

    @property
    def key_size(self) -> int | None:
        """How many bytes the key of every secret has; None if any number does."""
        seeds = self.simple.is_secret_a_seed or self.advanced.is_secret_a_seed
        return self.secret.generated_bytes if seeds else None
