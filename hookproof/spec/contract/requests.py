"""Specialises requests for a dialect: fields, bounds, words and the names of filters.

Every function changes the OpenAPI document in place.
"""

import copy
import re
from collections.abc import Mapping
from typing import Any, Final

from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.given_settings import least_http_timeout
from hookproof.spec.dialect.groups.requests import least_expiration, most
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import (
    BASE64_VARIANTS,
    AboveMaximum,
    Acceptance,
    BadParameter,
    OnInput,
    PartialMapping,
    SecretForm,
    ZeroLimit,
)
from hookproof.spec.openapi_document import (
    SCHEMAS,
    Document,
    content_schema,
    operations_of,
    reachable_schemas,
    request_bodies,
    resolved,
    schema_named,
    without_null,
)

# The unnamed parameters of section 4.4, by their gap, and the prefix of their fields in Paging.
FILTERS: Final = {"portal-owner-filter-name": "owner", "portal-name-filter-name": "name"}

_ANY_TEXT: Final = r"[\s\S]+$"
_UNNAMED: Final = "x-unnamed-parameters"
# RFC 6750: the one scheme of HTTP that carries a key as it is.
_BEARER: Final = "bearer"


def specialise_requests(document: Document, dialect: Dialect) -> None:
    """Specialise everything that a client sends."""
    _open_authentication(document)
    schemas = _separate(document)
    _require(document, dialect)
    _bound(document, dialect)
    _enumerate(document, dialect)
    _restrict_other_fields(document, dialect, schemas)
    if only(dialect.requests.partial_field_mapping, PartialMapping.REFUSED):
        mapping = schema_named(document, "FieldMappingInput")
        mapping["required"] = list(mapping["properties"])
    if not only(dialect.requests.other_data, Acceptance.REFUSED):
        del schema_named(document, "CreateBroadcastEvent")["properties"]["data"]["type"]
    _name_filters(document, dialect)
    _limit_pages(document, dialect)
    header = dialect.authentication.key_format  # section 5
    scheme = document["components"]["securitySchemes"]["apiKey"]
    scheme["description"] = f"The header reads `{header}`, with the key in place of {{key}}."
    word, _, key = header.partition(" ")
    if word.lower() == _BEARER and key == "{key}":
        scheme.update({"type": "http", "scheme": _BEARER})
        del scheme["in"], scheme["name"]


def only(answer: Answer[Any], value: object) -> bool:
    """Whether the dialect allows this value and no other."""
    return answer.allowed == (value,)


def _open_authentication(document: Document) -> None:
    """Allow all three mechanisms (section 5, item 4), though section 2.5 shows only one."""
    in_responses = schema_named(document, "EndpointAuthentication")["properties"]
    in_requests = schema_named(document, "CreateEndpointAuthentication")["properties"]
    for name, schema in in_responses.items():
        in_requests.setdefault(name, copy.deepcopy(schema))


def _separate(document: Document) -> tuple[str, ...]:
    """Copy the schemas that requests share with responses, since only requests are restricted.

    Returns the names of all schemas that belong to requests only.
    """
    bodies = [body for _operation, body in request_bodies(document)]
    responses = [operation["responses"] for _path, _method, operation in operations_of(document)]
    schemas = document["components"]["schemas"]
    of_requests = reachable_schemas(document, bodies)
    renamed = {
        name: f"{name}Input"
        for name in sorted(of_requests & reachable_schemas(document, responses))
    }
    for name, own_name in renamed.items():
        schemas[own_name] = copy.deepcopy(schemas[name])
    names = tuple(sorted(renamed.get(name, name) for name in of_requests))
    for name in names:
        _redirect(schemas[name], renamed)
    return names


def _redirect(schema: Document, renamed: Mapping[str, str]) -> None:
    """Let a schema of requests refer to others of requests; its null is that of a response."""
    properties = schema["properties"]
    for field, member in properties.items():
        properties[field] = value = dict(without_null(member))
        name = value.get("$ref", "").removeprefix(SCHEMAS)
        if name in renamed:
            value["$ref"] = f"{SCHEMAS}{renamed[name]}"


def _require(document: Document, dialect: Dialect) -> None:
    bodies = dict(request_bodies(document))
    for operation_id, body in bodies.items():  # section 4.9
        required = list(dialect.requests.required_by(operation_id))
        if required:
            body["required"] = True
            resolved(document, content_schema(body))["required"] = required
        one_of = dialect.requests.one_of_required_by(operation_id)
        if one_of:
            body["required"] = True
            choices = [{"required": [name]} for name in one_of]
            resolved(document, content_schema(body))["anyOf"] = choices
    if only(dialect.requests.roll_without_body, Acceptance.REFUSED):
        bodies["expireEndpointSecret"]["required"] = True


def _bound(document: Document, dialect: Dialect) -> None:
    rules = dialect.requests
    least_rate = 1 if only(dialect.delivery.zero_rate_limit, ZeroLimit.REFUSED) else 0
    # A rate needs a duration, unless one of 0 stands for none.
    least_duration = min(1, *dialect.delivery.default_rate_limit_duration.allowed, 1)
    create = schema_named(document, "CreateEndpoint")["properties"]
    roll = schema_named(document, "ExpireSecret")["properties"]
    bounds = (  # section 8
        (create["http_timeout"], least_http_timeout(dialect), most(rules.http_timeout_maximum)),
        (create["rate_limit"], least_rate, most(rules.rate_limit_maximum)),
        (create["rate_limit_duration"], least_duration, most(rules.rate_limit_duration_maximum)),
        (roll["expiration"], least_expiration(rules), most(rules.expiration_maximum)),
    )
    for schema, minimum, maximum in bounds:
        schema.update({"minimum": minimum, "maximum": maximum})
    create["rate_limit_duration"]["description"] += f" Here: {dialect.delivery.rate_limit_unit}."
    roll["expiration"]["description"] += f" Here: {dialect.rolling.expiration_unit}."
    for _operation, body in request_bodies(document):
        fields = resolved(document, content_schema(body))["properties"]
        for name in rules.text_maximum_of.keys() & fields.keys():
            fields[name]["maxLength"] = rules.text_maximum_of[name]
    secret = dialect.signatures.secret
    if only(secret.other_forms, OnInput.REFUSED):
        text = _secret_text(secret.form, dialect.signatures.key_size)
        pattern = f"^{re.escape(secret.prefix)}{text}"
        create["secret"]["pattern"] = roll["secret"]["pattern"] = pattern


def _secret_text(form: SecretForm, size: int | None) -> str:
    """What follows the prefix of a secret, as a regular expression; `size` is that of the key."""
    if form is SecretForm.TEXT:
        return _ANY_TEXT
    if form is SecretForm.HEX:
        return f"(?:[0-9A-Fa-f]{{2}}){'+' if size is None else f'{{{size}}}'}$"
    variant = BASE64_VARIANTS[form]
    letter = f"[{variant.letters}]"
    one, two = ("=", "==") if variant.padded else ("", "")
    if size is not None:
        ends = ("", f"{letter}{{2}}{two}", f"{letter}{{3}}{one}")
        return f"{letter}{{{size // 3 * 4}}}{ends[size % 3]}$"
    return f"(?:{letter}{{4}})*(?:{letter}{{4}}|{letter}{{3}}{one}|{letter}{{2}}{two})$"


def _enumerate(document: Document, dialect: Dialect) -> None:
    words = dialect.words
    words_of_fields = {  # section 2.9
        "CreateEndpointAuthentication": {
            "type": [words.auth_api_key, words.auth_basic, words.auth_oauth2]
        },
        "OAuth2Input": {
            "authentication_type": [words.oauth2_shared_secret, words.oauth2_assertion],
            "expiry_time_unit": list(words.oauth2_expiry_units),
        },
        "UpdatePortalLink": {"auth_type": list(words.portal_auth_types)},
    }
    for schema, fields in words_of_fields.items():
        for field, values in fields.items():
            if only(words.other_words_in(field), OnInput.REFUSED):
                schema_named(document, schema)["properties"][field]["enum"] = values


def _restrict_other_fields(document: Document, dialect: Dialect, schemas: tuple[str, ...]) -> None:
    """Restrict fields that the service assigns, and fields that the document does not name."""
    rules = dialect.requests
    assigned_field: Document = {"description": "Set by the service alone."}
    if only(rules.service_assigned_input, OnInput.REFUSED):
        assigned_field["not"] = {}
    for _operation, body in request_bodies(document):
        properties = resolved(document, content_schema(body))["properties"]
        for name in rules.service_assigned:
            properties.setdefault(name, assigned_field)
    if only(rules.unknown_fields, OnInput.REFUSED):
        for name in schemas:
            schema_named(document, name)["additionalProperties"] = False


def _name_filters(document: Document, dialect: Dialect) -> None:
    for _path, _method, operation in operations_of(document):
        for unnamed in operation.pop(_UNNAMED, ()):
            prefix = FILTERS[unnamed["gap"]]
            name = getattr(dialect.paging, f"{prefix}_filter")
            if name is None:
                continue
            match = getattr(dialect.paging, f"{prefix}_match")
            comparison = f" Compared: {' or '.join(match.allowed)}." if match.decided else ""
            operation["parameters"].append(
                {
                    "name": name,
                    "in": "query",
                    "schema": unnamed["schema"],
                    "description": f"{unnamed['description']}{comparison}",
                }
            )


def _limit_pages(document: Document, dialect: Dialect) -> None:
    paging = dialect.paging
    schema = document["components"]["parameters"]["perPage"]["schema"]
    if only(paging.bad_parameter, BadParameter.REFUSE):
        schema["minimum"] = 1
    maxima = [maximum for maximum in paging.maximum_per_page.allowed if maximum is not None]
    is_limited = len(maxima) == len(paging.maximum_per_page.allowed) > 0
    if only(paging.above_maximum, AboveMaximum.REFUSE) and is_limited:
        schema["maximum"] = max(maxima)  # section 8
    if paging.default_per_page.decided:
        schema["default"] = paging.default_per_page.value
