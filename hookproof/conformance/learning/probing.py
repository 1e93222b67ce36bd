"""All probes in their order: from how the key is presented to what an endpoint's bounds are.

Each learns from requests of its own. What it leaves behind are disabled endpoints, one active one,
and some events.
"""

from hookproof.conformance.learning.controls import controlled
from hookproof.conformance.learning.error_bodies import read_error_bodies
from hookproof.conformance.learning.probes.access import (
    find_key_format,
    probe_key_scope,
    probe_keys,
)
from hookproof.conformance.learning.probes.authentication import (
    probe_authentication,
    see_other_words,
)
from hookproof.conformance.learning.probes.bounds import (
    probe_nesting,
    probe_number_bounds,
    probe_size_limit,
    probe_text_lengths,
)
from hookproof.conformance.learning.probes.broadcasts import probe_broadcasts
from hookproof.conformance.learning.probes.endpoints import (
    probe_active_endpoint,
    probe_creation,
    probe_endpoint,
    probe_given_settings,
    probe_zeros,
)
from hookproof.conformance.learning.probes.lists import fill_lists, probe_filters, probe_lists
from hookproof.conformance.learning.probes.optional_requests import (
    probe_endpoint_urls,
    probe_optional_requests,
)
from hookproof.conformance.learning.probes.portal_links import probe_portal_link
from hookproof.conformance.learning.probes.refusals import probe_refusals, probe_unlisted_fields
from hookproof.conformance.learning.probes.representation import (
    probe_other_secret,
    probe_secrets,
    read_forms,
)
from hookproof.conformance.learning.probes.rolls import probe_expired_secrets, probe_rolls
from hookproof.conformance.learning.session import ProbeSession
from hookproof.conformance.target.preflight import measure_round_trip_s


async def approach(session: ProbeSession) -> None:
    """Learn how the key is presented, and how far away the target is; raises CommandError if
    nothing can be learned.
    """
    await find_key_format(session)
    session.round_trip_s = await measure_round_trip_s(session.project, session)


async def probe_api(session: ProbeSession) -> None:
    """Learn from the eight operations alone, each probe beside its control.

    Later probes send what earlier ones have learned to be accepted.
    """
    await controlled(session, probe_keys(session))
    await fill_lists(session)
    links = await controlled(session, probe_lists(session))
    await controlled(session, probe_filters(session, links))
    created = await controlled(session, probe_creation(session))
    await controlled(session, probe_key_scope(session, created))
    await controlled(session, probe_refusals(session))
    if created is not None:
        await controlled(session, probe_endpoint(session, created))
        await controlled(session, probe_secrets(session))
        read_forms(session)
        await controlled(session, probe_other_secret(session))
        await controlled(session, probe_rolls(session, created))
        await controlled(session, probe_zeros(session))
        await controlled(session, probe_given_settings(session))
        await controlled(session, probe_number_bounds(session, created))
    null_updates = await controlled(session, probe_portal_link(session, links, created))
    await controlled(session, probe_broadcasts(session))
    if created is not None:
        await controlled(session, probe_unlisted_fields(session, created))
    await controlled(session, probe_nesting(session))
    await controlled(session, probe_optional_requests(session, created, null_updates))
    await controlled(session, probe_endpoint_urls(session))
    if created is not None:
        await controlled(session, probe_authentication(session))
        await controlled(session, probe_text_lengths(session))
        await controlled(session, probe_size_limit(session))
        await controlled(session, probe_active_endpoint(session))
        await controlled(session, probe_expired_secrets(session))
    see_other_words(session)
    read_forms(session)
    read_error_bodies(session)
