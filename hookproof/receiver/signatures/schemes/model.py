"""What the scheme of a provider may say beyond a signature format of a dialect.

Dialects describe services that keep the API document. Providers sign in more ways: with other
algorithms, over the URL, in a member of the body.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from hookproof.spec.dialect.signature_scheme import Secrets, SignatureScheme
from hookproof.spec.dialect.vocabulary import Algorithm, Hash

# In bytes: a signature of ed25519, or of ECDSA on P-256 with its numbers one after the other.
CURVE_SIGNATURE: Final = 64
# What is signed where HTTP message signatures are meant (RFC 9421), and the names that their
# algorithms have there (section 6.2.2).
SIGNATURE_BASE: Final = "signature_base"
MESSAGE_ALGORITHMS: Final[Mapping[tuple[Algorithm, Hash], str]] = {
    (Algorithm.HMAC, Hash.SHA256): "hmac-sha256",
    (Algorithm.ED25519, Hash.SHA256): "ed25519",
    (Algorithm.ECDSA_RAW, Hash.SHA256): "ecdsa-p256-sha256",
    (Algorithm.RSA, Hash.SHA256): "rsa-v1_5-sha256",
    (Algorithm.RSA_PSS, Hash.SHA512): "rsa-pss-sha512",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSecrets(Secrets):
    """Secrets as a provider shows them.

    `in_pem`: the text is PEM, or the base64 within.
    `prefix_optional`: as the provider's libraries do, a text without the prefix is accepted.
    `private_prefix`: what the text of a private key begins with, where what verifies is a public
    one.
    """

    in_pem: bool = False
    prefix_optional: bool = False
    private_prefix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderScheme(SignatureScheme):
    """How a provider signs.

    `signed` may hold parts of the request too (`request_parts`), and a header's name may be
    `body:MEMBER`, for what stands in a JSON body. `inflated`: what was signed is the body before it
    was compressed. `within` is the member in which members are looked for if the body has it.
    `settings` are texts that no request has, such as the identifier that the receiver was given;
    one that is empty is still to be given.

    Of HTTP message signatures, `covered` are the components that are signed, and `required` those
    without which a signature is not accepted.
    """

    inflated: bool = False
    within: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    covered: tuple[str, ...] = ()
    required: tuple[str, ...] = ()

    @property
    def signs_messages(self) -> bool:
        """Whether these are HTTP message signatures (RFC 9421)."""
        return f"{{{SIGNATURE_BASE}}}" in self.signed
