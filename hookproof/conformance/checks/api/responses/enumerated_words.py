"""Section 2.9: enumerated fields of portal links and sources show words of the dialect."""

from collections.abc import Iterator, Mapping
from typing import Any

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import Kind, Resource, has_value, resources
from hookproof.spec.dialect.model import Words
from hookproof.spec.dialect.vocabulary import OnInput

GIVEN_BY_CLIENTS = "2.9-4"


@check("2.9-4", "2.9-5", "2.9-6", "2.9-7", "2.9-8", "2.9-14", "2.9-15")
def an_enumerated_field_shows_a_word_of_the_dialect(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """Wherever the field has a value.

    An auth_type may be what a client gave, unless the dialect refuses such words.
    """
    refusing = context.dialect.words.other_words_in("auth_type").allowed == (OnInput.REFUSED,)
    for resource in resources(exchange):
        for requirement, field, word, listed in _fields(resource, context.dialect.words):
            given_by_client = (
                requirement == GIVEN_BY_CLIENTS and word not in listed and not refusing
            )
            if has_value(word) and not given_by_client:
                yield judged(
                    word in listed,
                    requirement,
                    f"The {field} of a {resource.kind} is not a word of the dialect",
                    expected=" or ".join(listed),
                    actual=word,
                    exchanges=[exchange],
                )


def _fields(resource: Resource, words: Words) -> Iterator[tuple[str, str, Any, tuple[str, ...]]]:
    """Requirement, name, value and listed words of each enumerated field."""
    fields = resource.fields
    if resource.kind is Kind.PORTAL_LINK:
        yield "2.9-4", "auth_type", fields.get("auth_type"), words.portal_auth_types
    if resource.kind is Kind.SOURCE:
        yield "2.9-5", "type", fields.get("type"), words.source_types
        yield "2.9-6", "provider", fields.get("provider"), words.source_providers
        yield "2.9-7", "verifier type", _type_of(fields.get("verifier")), words.verifier_types
        yield "2.9-8", "pub_sub type", _type_of(fields.get("pub_sub")), words.pub_sub_types
        encoding = _at(fields, "verifier", "hmac", "encoding")
        if words.hmac_encodings.decided:
            yield "2.9-14", "hmac encoding", encoding, words.hmac_encodings.allowed
        auth_type = _at(fields, "pub_sub", "kafka", "auth", "type")
        if words.kafka_auth_types.decided:
            yield "2.9-15", "kafka auth type", auth_type, words.kafka_auth_types.allowed


def _type_of(value: Any) -> Any:
    return _at(value, "type")


def _at(value: Any, *path: str) -> Any:
    """The field at a path of names; None if there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
