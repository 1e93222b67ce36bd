"""Specialises deliveries for a dialect: the headers that they carry (section 6).

The OpenAPI document is changed in place.
"""

from collections.abc import Iterator

from hookproof.spec.dialect.model import Dialect
from hookproof.spec.openapi_document import Document


def specialise_deliveries(document: Document, dialect: Dialect) -> None:
    """Add the headers that the dialect names to the delivery in the webhooks section."""
    delivery = document["webhooks"]["delivery"]["post"]
    delivery["parameters"] = [
        {
            "name": name,
            "in": "header",
            "required": required,
            "schema": {"type": "string"},
            "description": description,
        }
        for name, required, description in _headers(dialect)
    ]


def _headers(dialect: Dialect) -> Iterator[tuple[str, bool, str]]:
    """Each header that the service adds: name, whether every delivery has it, description."""
    simple, advanced = dialect.signatures.simple, dialect.signatures.advanced
    if dialect.delivery.event_id_header is not None:
        yield (
            dialect.delivery.event_id_header,
            True,
            "The event's identifier, the same at each attempt.",
        )
    if dialect.delivery.attempt_header is not None:
        yield dialect.delivery.attempt_header, True, "The number of the attempt."
    if dialect.delivery.event_type_header is not None:
        yield dialect.delivery.event_type_header, False, "The event's event_type."
    descriptions = {
        simple.timestamp_header: "The time that the signatures cover",
        advanced.timestamp_header: "The time that the signatures cover",
        simple.header: "The signatures",
        advanced.header: "The signatures",
    }
    for header, description in descriptions.items():
        if header is not None:
            in_both = all(
                header in (scheme.header, scheme.timestamp_header) for scheme in (simple, advanced)
            )
            yield header, in_both, f"{description}; how it is made depends on advanced_signatures."
