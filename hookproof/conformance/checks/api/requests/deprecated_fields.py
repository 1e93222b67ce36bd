"""Section 9: deprecated fields still work, and do what the dialect says."""

from collections.abc import Iterator

from hookproof.conformance.checks.api.resources.portal_link import is_member, members
from hookproof.conformance.checks.support.success import success_of
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, json_text, judged
from hookproof.conformance.observations.answer import sent, shown, shown_uid
from hookproof.conformance.observations.resources.portal_link import PortalLinkUpdate
from hookproof.conformance.observations.resources.round_trip import RoundTrip
from hookproof.spec.dialect.vocabulary import AppIdMeaning, PortalEndpointsMeaning


@check("9-1", "9-3")
def app_id_is_taken_and_means_what_the_dialect_says(
    trip: RoundTrip, context: CheckContext
) -> Iterator[Judgement]:
    """Another name of owner_id, or nothing."""
    for created in trip.created[:1]:
        if "appID" in sent(created):
            yield from _app_id(created, trip.first_shown(created), context)


def _app_id(created: Exchange, answer: Exchange, context: CheckContext) -> Iterator[Judgement]:
    message = "An endpoint cannot be created with the deprecated appID"
    yield from success_of(created, "9-1", message)
    meaning = context.dialect.requests.app_id
    if not shown(answer) or not meaning.decided:
        return
    if "owner_id" in sent(created) and _is_alias(meaning.value):
        return  # nothing says which of two names for one thing wins
    is_owner = shown(answer).get("owner_id") == sent(created)["appID"]
    yield judged(
        any(_is_alias(allowed) is is_owner for allowed in meaning.allowed),
        "9-3",
        "The deprecated appID does not do what the dialect says",
        expected=meaning.value.value,
        actual=f"owner_id {json_text(shown(answer).get('owner_id'))}",
        exchanges=dict.fromkeys([created, answer]),
    )


def _is_alias(meaning: AppIdMeaning) -> bool:
    return meaning is AppIdMeaning.OWNER_ALIAS


@check("9-2", "9-4")
def portal_endpoints_are_taken_and_mean_what_the_dialect_says(
    updated: PortalLinkUpdate, context: CheckContext
) -> Iterator[Judgement]:
    """They are in the portal link besides those of its owner, or are shown and do nothing else, or
    the field does nothing.

    Only endpoints that exist are named: whoever refuses an empty list refuses no endpoint.
    """
    update, after = updated.update, updated.after
    if updated.field != "endpoints" or update is None:
        return
    named, meaning = sent(update)["endpoints"], context.dialect.requests.portal_endpoints
    endpoint = updated.named_endpoint
    if not named or endpoint is None or not endpoint.succeeded:
        return
    if shown_uid(endpoint) is not None and named != [shown_uid(endpoint)]:
        return
    message = "A portal link cannot be updated with the deprecated endpoints"
    yield from success_of(update, "9-2", message)
    if update.succeeded and after is not None and shown(after) and meaning.decided:
        is_there = set(named) <= set(members(after)) or is_member(after, endpoint, ())
        if is_there is None:
            return
        is_shown = shown(after).get("endpoints") == named
        yield judged(
            any(_is_what_happened(allowed, is_there, is_shown) for allowed in meaning.allowed),
            "9-4",
            "The deprecated endpoints of a portal link do not do what the dialect says",
            expected=meaning.value.value,
            actual=f"endpoints {json_text(shown(after).get('endpoints'))}, endpoints_metadata"
            f" {json_text(members(after))}",
            exchanges=[update, after],
        )


def _is_what_happened(meaning: PortalEndpointsMeaning, is_there: bool, is_shown: bool) -> bool:
    """A list that does nothing may be shown all the same."""
    if is_there:
        return meaning is PortalEndpointsMeaning.ADDED
    return meaning is PortalEndpointsMeaning.IGNORED or (
        meaning is PortalEndpointsMeaning.SHOWN and is_shown
    )
