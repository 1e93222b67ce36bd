"""The settings of `schemathesis run` for a service with a dialect: `schemathesis.toml`.

Most checks of Schemathesis presume an answer to something that the document leaves open. Each is on
where the dialect gives that answer, and off elsewhere, so that it reports no service for a choice.
"""

import json
from collections.abc import Collection, Iterator
from dataclasses import fields
from http import HTTPStatus
from typing import Final

from hookproof.spec.contract.published import knows_error_form
from hookproof.spec.contract.requests import only
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.assumptions import assumed_fields, opened
from hookproof.spec.dialect.groups.errors import KEY_REFUSALS, REFUSALS
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.dialect.vocabulary import Acceptance

# The dialect by which a key is written where nothing is known.
KEY_AS_IN: Final = "reference"
# What Schemathesis takes for the refusal of a key, and of a method.
_KEY_REFUSED: Final = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
_NO_KEY: Final = (HTTPStatus.UNAUTHORIZED,)
_NO_METHOD: Final = (HTTPStatus.METHOD_NOT_ALLOWED,)
# The refusals of a request that is not as it has to be.
_OF_VALUES: Final = ("malformed_body", "invalid_value")

_SETTINGS: Final = """\
# Settings of `schemathesis run` for {subject}.
#
#   export HOOKPROOF_PROJECT=... HOOKPROOF_API_KEY=...{dialect}
#   schemathesis --config-file schemathesis.toml run openapi.yaml -u URL
#
# `hookproof schema schemathesis --dialect NAME` prints them for another dialect, and
# `hookproof schema openapi --dialect NAME` prints its openapi.yaml.

# One more check for each requirement that a few exchanges show; without this line there is none.
hooks = "hookproof.schemathesis"
headers = {{ Authorization = {authorization} }}
seed = 0

[parameters]
"path.projectID" = "${{HOOKPROOF_PROJECT}}"
"body.url" = {{ dictionary = "endpoint-urls" }}
"body.slack_webhook_url" = {{ dictionary = "reserved-urls" }}
"body.authentication.oauth2.url" = {{ dictionary = "reserved-urls" }}
"body.support_email" = {{ dictionary = "reserved-addresses" }}
"body.owner_id" = {{ dictionary = "owners", probability = 0.8 }}

# Nobody has these names (RFC 2606): valid requests make the service call no stranger. Only https
# is supported (2.3): the others are for invalid requests.
[dictionaries]
endpoint-urls.values = [
    "https://receiver.invalid/orders", "https://other.invalid/",
    "http://receiver.invalid/orders", "http://receiver.invalid/?https://", "ftp://receiver.invalid/",
]
reserved-urls.values = ["https://receiver.invalid/orders", "https://other.invalid/"]
reserved-addresses.values = ["developers@receiver.invalid"]
owners.values = ["owner-1", "owner-2"]

[generation]
allow-x00 = false      # JSON allows NUL in a text, and databases often do not
database = "none"      # so that the seed alone decides
"""
# No schema says what these refuse; an empty parameter may be taken as one that is left out.
_SINGLE_OPERATIONS: Final = """\
[[operations]]         # no schema says which cursors were given out
include-operation-id = ["listPortalLinks", "listSources"]
checks = { positive_data_acceptance.enabled = false, negative_data_rejection.enabled = false }

[[operations]]         # or which texts are certificates, and hosts that can be called
include-operation-id = ["createEndpoint"]
checks = { positive_data_acceptance.enabled = false }
"""


def schemathesis_settings(dialect: Dialect | None) -> str:
    """The text of the file, for a service of any dialect if there is none."""
    known = None if dialect is None else opened(dialect)
    subject = "a service of any dialect" if known is None else f"the dialect {known.name}"
    written = (known or load_dialect(KEY_AS_IN)).authentication.key_format
    key = written.replace("{key}", "${HOOKPROOF_API_KEY}")
    parts = [
        _SETTINGS.format(
            subject=subject,
            dialect="" if known is None else " HOOKPROOF_DIALECT=NAME",
            authorization=json.dumps(key),
        ),
        *(f"[checks.{name}]\n{setting}\n" for name, setting in _checks(known)),
    ]
    if known is not None and _is_decided(known):
        parts.append(_SINGLE_OPERATIONS)
    return "\n".join(parts)


def _checks(known: Dialect | None) -> Iterator[tuple[str, str]]:
    """Each check that is not as Schemathesis has it, with its setting."""
    if known is None:
        yield "status_code_conformance", _off("which status a label stands for is open (4, 7)")
    if known is None or not knows_error_form(known):
        yield "content_type_conformance", _off("the type of an error body is open (7)")
    if known is None or not _is_decided(known):
        yield "positive_data_acceptance", _off("what a request needs is open (4.9, 8)")
        yield "negative_data_rejection", _off("what becomes of a wrong value is open (7, 8)")
    else:
        others = _statuses(known, {*KEY_REFUSALS, *REFUSALS} - {*_OF_VALUES})
        yield "positive_data_acceptance", _expected(["2xx", *others])
        if only(known.requests.null_fields, Acceptance.REFUSED):
            yield "negative_data_rejection", _expected(_statuses(known, REFUSALS))
        else:
            yield "negative_data_rejection", _off("null may stand for a field that is left out")
    if not _are(known, ["missing_key"], _NO_KEY):
        yield "missing_required_header", _off("a missing key has another status, or any (5)")
    if not _are(known, KEY_REFUSALS, _KEY_REFUSED):
        yield "ignored_auth", _off("a refused key has another status, or any (5)")
    if not _are(known, ["method_not_allowed"], _NO_METHOD):
        yield "unsupported_method", _off("another method has another status, or any (7)")


def _off(reason: str) -> str:
    return f"enabled = false        # {reason}"


def _expected(statuses: list[str]) -> str:
    return f"expected-statuses = {json.dumps(statuses)}"


def _are(known: Dialect | None, refusals: Collection[str], statuses: Collection[int]) -> bool:
    """Whether it is known that these refusals have one of these statuses."""
    if known is None:
        return False
    answers = [answer for name in refusals for answer in _answers(known, name)]
    return all(answer.decided and {*answer.allowed} <= {*statuses} for answer in answers)


def _statuses(known: Dialect, refusals: Collection[str]) -> list[str]:
    answers = [answer for name in refusals for answer in _answers(known, name)]
    return sorted({str(status) for answer in answers for status in answer.allowed})


def _answers(dialect: Dialect, refusal: str) -> tuple[Answer[int], ...]:
    """The statuses that a refusal can have, whatever the operation is."""
    if refusal in KEY_REFUSALS:
        return (getattr(dialect.authentication, KEY_REFUSALS[refusal]),)
    return dialect.errors.statuses(refusal)


def _is_decided(known: Dialect) -> bool:
    """Whether everything about requests and refusals is known."""
    groups = (known.requests, known.errors, known.authentication, known.paging)
    answers = (getattr(group, each.name) for group in groups for each in fields(group))
    return not assumed_fields(known) and all(
        answer.decided for answer in answers if isinstance(answer, Answer)
    )
