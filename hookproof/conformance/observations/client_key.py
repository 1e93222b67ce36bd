"""The client_key of an endpoint in answers, compared with the one sent while it is in clear."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import Kind, resources, sent, shown_uid


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownClientKey:
    """Whether an answer shows the client_key that an endpoint was created with (section 2.3).

    `creation` and `answer` are the places of their exchanges in the observation.
    """

    creation: int
    answer: int
    is_the_one_sent: bool


def shown_client_keys(exchanges: Sequence[Exchange]) -> Iterator[ShownClientKey]:
    """Each endpoint in an answer that shows a client_key, if its creation is among them."""
    creations = {
        shown_uid(exchange): (place, given)
        for place, exchange in enumerate(exchanges)
        if exchange.operation_id == "createEndpoint" and (given := client_key_in(sent(exchange)))
    }
    for place, exchange in enumerate(exchanges if creations else ()):
        for resource in resources(exchange):
            uid, shown = resource.text("uid"), client_key_in(resource.fields)
            if resource.kind is Kind.ENDPOINT and shown and uid is not None and uid in creations:
                creation, given = creations[uid]
                yield ShownClientKey(
                    creation=creation, answer=place, is_the_one_sent=is_same_key(given, shown)
                )


def client_key_in(endpoint: Mapping[str, Any]) -> str:
    """The client_key of an endpoint; the empty text if there is none."""
    pair = endpoint.get("mtls_client_cert")
    value = pair.get("client_key") if isinstance(pair, dict) else None
    return value if isinstance(value, str) else ""


def is_same_key(given: str, shown: str) -> bool:
    """Whether two texts are the same private key, whichever form of PEM they have."""
    if given.split() == shown.split():
        return True
    try:
        return _written(given) == _written(shown)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return False


def _written(pem: str) -> bytes:
    key = load_pem_private_key(pem.encode(), password=None)
    return key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
