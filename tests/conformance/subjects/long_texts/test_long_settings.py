"""Which texts of createEndpoint are sent long, and in what form."""

import itertools
import random
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from hookproof.conformance.experiments.support.authentications import with_assertion
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.subjects.long_texts.experiment import (
    ENDPOINT_FIELDS,
    KEY,
    LONG,
    WORDS,
    LongSetting,
    Path,
    long_settings,
)
from hookproof.spec.contract.service_contract import contract_for
from hookproof.spec.dialect.reader import load_dialect, shipped_dialects

# The pair is PEM, and `type` is a word.
NOT_FREE = {"mtls_client_cert", *WORDS}


def bodies_for(dialect: str) -> RequestBodies:
    counter = itertools.count()
    return RequestBodies(
        dialect=load_dialect(dialect),
        random=random.Random(0),
        word=lambda stem: f"{stem}-{next(counter)}",
    )


def settings_for(bodies: RequestBodies) -> Mapping[str, LongSetting]:
    return long_settings(bodies, bodies.oauth2(), with_assertion(bodies))


def texts_of(
    schema: Mapping[str, Any], schemas: Mapping[str, Any], path: Path = ()
) -> Iterator[Path]:
    """The paths of the texts of a schema; what it refers to is among `schemas`."""
    for name, property_ in schema.get("properties", {}).items():
        described = {**property_, **schemas.get(property_.get("$ref", "").rpartition("/")[2], {})}
        if name in NOT_FREE or name == KEY:
            continue
        if described.get("type") == "string":
            yield (*path, name)
        yield from texts_of(described, schemas, (*path, name))


def test_every_free_text_of_a_creation_is_sent_long() -> None:
    bodies = bodies_for("reference")
    contract = contract_for(bodies.dialect)
    schema = contract.operations["createEndpoint"].body_schema or {}
    long = {path for setting in settings_for(bodies).values() for path in setting.paths}
    long |= {(field,) for field in ENDPOINT_FIELDS}
    texts = set(texts_of(schema, contract.document["components"]["schemas"]))
    assert ("authentication", "oauth2", "field_mapping", "access_token") in texts
    assert texts <= long
    assert long - texts == {("authentication", "oauth2", "signing_key", "kid")}


@pytest.mark.parametrize("dialect", sorted(shipped_dialects()))
def test_a_long_text_has_the_form_of_its_field_and_the_rest_stays(dialect: str) -> None:
    bodies = bodies_for(dialect)
    for setting in settings_for(bodies).values():
        for path in setting.paths:
            fields = setting.lengthened(bodies, [path], LONG)
            value, ordinary = fields, setting.fields
            for name in path:
                value, ordinary = value[name], ordinary[name]
            assert LONG <= len(value) <= LONG + len("0000"), path
            assert value != ordinary
            assert fields.keys() == setting.fields.keys()
    plain = settings_for(bodies)["fields"]
    long = plain.lengthened(bodies, plain.paths, LONG)
    assert long["url"].startswith("https://")
    assert long["support_email"].endswith("@long.invalid")
    assert long["secret"].startswith(bodies.dialect.signatures.secret.prefix)
