"""Sections 2.3, 3, 4.1 and 4.2: an endpoint shows what it was created with, at once and when it is
fetched.
"""

from collections.abc import Iterator
from typing import Any, Final

from hookproof.conformance.model.check_registry import CheckContext, check, oracle
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import Kind, has_value, resources, sent, shown
from hookproof.conformance.observations.case import Case

ECHOED: Final = {
    "name": "4.1-4",
    "description": "4.1-5",
    "url": "4.1-6",
    "owner_id": "4.1-7",
    "content_type": "4.1-8",
    "advanced_signatures": "4.1-9",
    "http_timeout": "4.1-10",
    "rate_limit": "4.1-11",
    "rate_limit_duration": "4.1-12",
    "slack_webhook_url": "4.1-13",
    "support_email": "4.1-14",
}

# What only its owner changes; counts and the status follow from deliveries.
CONFIGURATION: Final = (
    *ECHOED,
    "uid",
    "project_id",
    "authentication",
    "mtls_client_cert",
    "created_at",
)

HTTPS = "https://"


@oracle("2.3-1", "2.3-10")
def a_created_endpoint_has_a_uid_and_a_secret(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """Neither is empty."""
    if exchange.operation_id == "createEndpoint" and exchange.succeeded:
        for requirement, member in (("2.3-1", "uid"), ("2.3-10", "secrets")):
            value = shown(exchange).get(member)
            yield judged(
                has_value(value),
                requirement,
                f"A created endpoint has no {member}",
                expected=member,
                actual=value,
                exchanges=[exchange],
            )


@check("2.3-2", experiments=("round_trip",))
def no_two_endpoints_have_the_same_uid(case: Case, _context: CheckContext) -> Iterator[Judgement]:
    """Created one after the other."""
    uids = [str(shown(one).get("uid")) for one in case.all_exchanges("create") if one.succeeded]
    if len(uids) > 1:
        message = "Two endpoints have the same uid"
        yield judged(
            len(set(uids)) == len(uids),
            "2.3-2",
            message,
            expected="different",
            actual=uids,
            exchanges=case.exchanges,
        )


@oracle("2.3-3", "2.3-16")
def an_endpoint_shows_an_https_url_and_no_negative_count(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """A scheme may be in capitals (RFC 3986)."""
    for endpoint in (one for one in resources(exchange) if one.kind is Kind.ENDPOINT):
        url, count = endpoint.text("url"), endpoint.fields.get("events")
        if url is not None:
            https = url.lower().startswith(HTTPS)
            message = "An endpoint shows a URL that is not https"
            yield judged(
                https, "2.3-3", message, expected="https://...", actual=url, exchanges=[exchange]
            )
        if isinstance(count, int):
            message = "An endpoint shows a negative count of events"
            yield judged(
                count >= 0,
                "2.3-16",
                message,
                expected="0 or more",
                actual=count,
                exchanges=[exchange],
            )


@check("2.3-4", experiments=("round_trip",))
def several_endpoints_share_one_owner(case: Case, _context: CheckContext) -> Iterator[Judgement]:
    """Each of them is created and shows the owner_id."""
    if case.facts.get("about") == "one owner":
        created = case.all_exchanges("create")
        wanted = [sent(one).get("owner_id") for one in created]
        actual = [shown(one).get("owner_id") for one in created]
        message = "Endpoints cannot share one owner_id"
        yield judged(
            actual == wanted, "2.3-4", message, expected=wanted, actual=actual, exchanges=created
        )


@oracle("2.3-5", "2.3-8")
def what_is_not_given_has_the_documented_default(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """content_type and advanced_signatures; a content type may carry parameters."""
    if exchange.operation_id != "createEndpoint" or not shown(exchange):
        return
    if "content_type" not in sent(exchange):
        actual = shown(exchange).get("content_type")
        fits = (
            isinstance(actual, str)
            and actual.partition(";")[0].strip().lower() == "application/json"
        )
        message = "An endpoint created without content_type shows another one than application/json"
        yield judged(
            fits, "2.3-5", message, expected="application/json", actual=actual, exchanges=[exchange]
        )
    if "advanced_signatures" not in sent(exchange):
        actual = shown(exchange).get("advanced_signatures")
        message = "An endpoint created without advanced_signatures does not show it as false"
        yield judged(
            actual is False, "2.3-8", message, expected=False, actual=actual, exchanges=[exchange]
        )


@check(*ECHOED.values(), experiments=("round_trip", "pairs", "sequences"))
def a_created_endpoint_shows_what_was_sent(
    case: Case, _context: CheckContext
) -> Iterator[Judgement]:
    """Every plain field of every accepted request; numbers are equal whatever their spelling."""
    for created in case.all_exchanges("create"):
        for field, requirement in ECHOED.items():
            if field in sent(created) and shown(created):
                yield judged(
                    _equal(sent(created)[field], shown(created).get(field)),
                    requirement,
                    f"The {field} of a created endpoint is not the one sent",
                    expected=sent(created)[field],
                    actual=shown(created).get(field, "absent"),
                    exchanges=[created],
                )


@check("4.2-5", experiments=("round_trip",))
def an_endpoint_is_fetched_as_it_was_created(
    case: Case, _context: CheckContext
) -> Iterator[Judgement]:
    """Field by field, masked credentials masked alike."""
    for created, fetched in created_and_fetched(case):
        different = [
            name for name in CONFIGURATION if shown(created).get(name) != shown(fetched).get(name)
        ]
        yield judged(
            not different,
            "4.2-5",
            "An endpoint is fetched with another configuration than its creation showed",
            expected={name: shown(created).get(name) for name in different},
            actual={name: shown(fetched).get(name) for name in different},
            exchanges=[created, fetched],
        )


@check("2.9-13", experiments=("round_trip", "roll_answers", "portal_links", "pairs", "sequences"))
def created_at_never_changes(case: Case, _context: CheckContext) -> Iterator[Judgement]:
    """Of every resource that a case shows more than once."""
    first: dict[str, tuple[str, Exchange]] = {}
    for exchange in case.exchanges:
        for resource in resources(exchange):
            uid, created_at = resource.text("uid"), resource.text("created_at")
            if uid is None or created_at is None:
                continue
            if uid not in first:
                first[uid] = (created_at, exchange)
            elif exchange is not first[uid][1]:
                yield judged(
                    created_at == first[uid][0],
                    "2.9-13",
                    "created_at of a resource changes",
                    expected=first[uid][0],
                    actual=created_at,
                    exchanges=[first[uid][1], exchange],
                )


@check("3-1", "3-2", "3-4", experiments=("round_trip",))
def status_follows_is_disabled(case: Case, context: CheckContext) -> Iterator[Judgement]:
    """Both values of is_disabled are taken; the words are the dialect's."""
    words = context.dialect.words
    for created in case.all_exchanges("create"):
        disabled = sent(created).get("is_disabled", False)
        if "is_disabled" in case.facts["fields"]:
            message = "An endpoint cannot be created with one of the values of is_disabled"
            yield judged(
                created.succeeded,
                "3-4",
                message,
                expected="a 2xx",
                actual=created.status,
                exchanges=[created],
            )
        word = words.endpoint_disabled if disabled else words.endpoint_active
        if word.decided and shown(created):
            yield judged(
                word.allows(shown(created).get("status")),
                "3-2" if disabled else "3-1",
                f"The status of an endpoint that is {'disabled' if disabled else 'active'} is another word",
                expected=" or ".join(word.allowed),
                actual=shown(created).get("status", "absent"),
                exchanges=[created],
            )


def created_and_fetched(case: Case) -> Iterator[tuple[Exchange, Exchange]]:
    """Each creation with the fetch of the same endpoint."""
    fetches = {str(shown(one).get("uid")): one for one in case.all_exchanges("fetch") if shown(one)}
    for created in case.all_exchanges("create"):
        fetched = fetches.get(str(shown(created).get("uid")))
        if fetched is not None:
            yield created, fetched


def _equal(left: Any, right: Any) -> bool:
    return bool(left == right) and isinstance(left, bool) == isinstance(right, bool)
