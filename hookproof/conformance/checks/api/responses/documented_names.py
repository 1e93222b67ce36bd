"""Sections 2 and 4: documented fields have their documented names."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from hookproof.conformance.checks.api.responses.documented_types import OF_OPERATION
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, holds, violated
from hookproof.conformance.observations.answer import resources
from hookproof.spec.openapi_document import Document, resolved, schema_named, without_null

SEPARATORS: Final = re.compile("[^a-z0-9]")


@check(*OF_OPERATION.values())
def no_documented_field_is_spelled_otherwise(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """No field is left out where another one differs from its name in case and separators alone, as
    `routing_key` does from `routingKey`.

    Other fields that the document does not name are the service's own.
    """
    document = context.contract.document
    shown = [each for each in resources(exchange) if each.fields and not each.nested]
    if exchange.operation_id is None or not shown:
        return
    requirement = OF_OPERATION[exchange.operation_id]
    otherwise = dict.fromkeys(
        (resource.kind, field, spelling)
        for resource in shown
        for field, spelling in spelled_otherwise(
            document, schema_named(document, resource.kind), resource.fields
        )
    )
    if not otherwise:
        yield holds(requirement, exchanges=[exchange])
    for kind, field, spelling in otherwise:
        yield violated(
            requirement,
            f"A field is not named as documented: {kind} {field}",
            expected=field.rpartition(".")[2],
            actual=spelling,
            exchanges=[exchange],
        )


def spelled_otherwise(
    document: Mapping[str, Any], schema: Document, value: Any, path: str = ""
) -> Iterator[tuple[str, str]]:
    """The path of each documented field that a value lacks, and the name that it has in its place;
    fields in objects and arrays within it as well.
    """
    schema = resolved(document, without_null(schema))
    if isinstance(value, list):
        for item in value if "items" in schema else ():
            yield from spelled_otherwise(document, schema["items"], item, path)
    if not isinstance(value, dict):
        return
    properties = schema.get("properties", {})
    if not value.keys() <= properties.keys():
        lacking = {bare(name): name for name in properties if name not in value}
        for name in value:
            if name not in properties and (documented := lacking.get(bare(name))) is not None:
                yield f"{path}{documented}", name
    for name, member in value.items():
        if isinstance(member, dict | list) and name in properties:
            yield from spelled_otherwise(document, properties[name], member, f"{path}{name}.")


def bare(name: str) -> str:
    """A name without what distinguishes its spellings."""
    return SEPARATORS.sub("", name.lower())
