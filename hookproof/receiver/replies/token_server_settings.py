"""The settings of a token server: who may ask, what its tokens look like, and how it fails.

They are validated on input, so all accepted settings can be carried out.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

import msgspec
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OKPKey, RSAKey

from hookproof.receiver.replies.script import Count, Reply, Seconds
from hookproof.spec.dialect.vocabulary import TimeUnit

# Asymmetric signatures: RFC 7518, section 3.1, and RFC 8037.
ALGORITHMS: Final = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "Ed25519",
    "EdDSA",
)
KEY_TYPES: Final[Mapping[str, type[RSAKey] | type[ECKey] | type[OKPKey]]] = {
    "RSA": RSAKey,
    "EC": ECKey,
    "OKP": OKPKey,
}
PRIVATE_MEMBER: Final = "d"

Text = Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
Method = Literal["basic", "body", "assertion"]
Field = Literal["access_token", "expires_in", "token_type"]


class Client(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A client that authenticates by a secret, or by assertions that `public_key` verifies.

    `methods` are the ways in which it may authenticate, by default all that its credentials allow:
    `basic` (the secret in the Authorization header), `body` (the secret in the form), `assertion`.
    Issuer and subject of an assertion are the client's id by default; its audience is the token
    server's URL or one of `audiences`.
    """

    client_id: Text
    client_secret: Text | None = None
    public_key: dict[str, Any] | None = None
    algorithms: tuple[str, ...] = ALGORITHMS
    methods: tuple[Method, ...] = ()
    issuer: Text | None = None
    subject: Text | None = None
    audiences: tuple[Text, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a client that could never authenticate; msgspec converts ValueError to its own."""
        if self.client_secret is None and self.public_key is None:
            raise ValueError("a client needs a client_secret or a public_key")
        if unknown := set(self.algorithms) - set(ALGORITHMS):
            raise ValueError(
                f"{min(unknown)!r} is not one of the algorithms {', '.join(ALGORITHMS)}"
            )
        if self.public_key is not None:
            if PRIVATE_MEMBER in self.public_key:
                raise ValueError("public_key holds a private key; register the public one")
            self.key()
        if unusable := set(self.methods) - set(self._usable_methods()):
            raise ValueError(
                f"the method {min(unusable)!r} needs a credential that the client does not have"
            )

    def allows(self, method: Method) -> bool:
        """Whether the client may authenticate in this way."""
        return method in (self.methods or self._usable_methods())

    def key(self) -> RSAKey | ECKey | OKPKey:
        """The key of its assertions; raises ValueError."""
        jwk = self.public_key or {}
        try:
            return KEY_TYPES[jwk["kty"]].import_key(jwk)
        except (JoseError, ValueError, TypeError, KeyError):
            raise ValueError(
                f"public_key is not a public JWK of the types {', '.join(KEY_TYPES)}"
            ) from None

    def _usable_methods(self) -> tuple[Method, ...]:
        by_secret: tuple[Method, ...] = ("basic", "body") if self.client_secret is not None else ()
        by_key: tuple[Method, ...] = ("assertion",) if self.public_key is not None else ()
        return by_secret + by_key


class FieldNames(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The names of the response's fields, as in an endpoint's `field_mapping` (section 2.5)."""

    access_token: Text = "access_token"  # noqa: S105 - it names a field
    expires_in: Text = "expires_in"
    token_type: Text = "token_type"  # noqa: S105

    def __post_init__(self) -> None:
        if len({self.access_token, self.expires_in, self.token_type}) != len(
            self.__struct_fields__
        ):
            raise ValueError("two fields cannot have the same name")


class Turn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What happens to the next `times` requests, after `delay_s` seconds.

    `token` grants one to every client that authenticates, without the fields in `omit`; `expired`
    grants one that expires at once; `malformed` truncates the JSON; the others refuse every request
    with the error of RFC 6749, section 5.2, and status 400, 401 or 500. A `reply` is sent in place
    of all that.
    """

    gives: Literal[
        "token", "expired", "malformed", "invalid_request", "invalid_client", "server_error"
    ] = "token"
    omit: tuple[Field, ...] = ()
    delay_s: Seconds = 0.0
    reply: Reply | None = None
    times: Count = 1


class TokenServerSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A token server.

    Without `clients` everyone gets a token; without `scopes` any scope is accepted. A token is
    valid for `lifetime_s` seconds, which the answer states in `expires_unit`, as a string with
    `expires_as_text`. With `decoys` the answer has wrong values under the usual names of renamed
    fields. With `single_use` an assertion needs a jti that its client has not used before (RFC
    7523, section 3). `turns` apply in order, the last one indefinitely.
    """

    clients: tuple[Client, ...] = ()
    scopes: tuple[Text, ...] = ()
    fields: FieldNames = FieldNames()
    token_type: Text = "Bearer"  # noqa: S105 - RFC 6750
    lifetime_s: Annotated[float, msgspec.Meta(gt=0, le=10**9)] = 3600.0
    expires_unit: TimeUnit = TimeUnit.SECONDS
    expires_as_text: bool = False
    decoys: bool = False
    single_use: bool = False
    turns: Annotated[tuple[Turn, ...], msgspec.Meta(min_length=1)] = (Turn(),)

    def __post_init__(self) -> None:
        names = [client.client_id for client in self.clients]
        if len(set(names)) != len(names):
            raise ValueError("two clients have the same client_id")

    def turn(self, index: int) -> Turn:
        """The turn of a request, by its index."""
        for turn in self.turns:
            index -= turn.times
            if index < 0:
                return turn
        return self.turns[-1]
