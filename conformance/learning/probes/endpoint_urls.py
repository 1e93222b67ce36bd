"""What becomes of unusual URLs of endpoints: each is tried beside a plain one (section 8)."""

from typing import Final

from hookproof.conformance.experiments.support.unusual_urls import UnusualUrls
from hookproof.conformance.learning.probes.access import miss_undecided
from hookproof.conformance.learning.probes.optional_requests import see_taken
from hookproof.conformance.learning.session import CREATE, ProbeSession
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import accepted_or_refused
from hookproof.conformance.observations.requests.endpoint_urls import FIELDS, UrlKind

PLAIN_REFUSED: Final = "an endpoint with a plain URL at a reserved name is not created"
DIFFERENT: Final = "of several such URLs some are taken and others refused"


async def probe_endpoint_urls(session: ProbeSession) -> None:
    """Learn which URLs are taken, where a plain one is. The endpoints are disabled."""
    urls = UnusualUrls(host=f"{session.word('host')}.invalid", user=session.word("user"))
    plain = await _create(session, "with a plain URL", urls.plain)
    if not plain.succeeded:
        for name in FIELDS.values():
            session.answers.miss(f"requests.{name}", PLAIN_REFUSED)
        return
    ported = await _create(session, _with(UrlKind.OTHER_PORT), urls.ported)
    tried = {
        UrlKind.OTHER_PORT: [ported],
        **{
            kind: [await _create(session, _with(kind), url) for url in unusual]
            for kind, unusual in {
                **urls.beside_plain,
                **urls.addresses(with_port=ported.succeeded),
            }.items()
        },
    }
    for kind, answers in tried.items():
        _see(session, f"requests.{FIELDS[kind]}", answers)


def _see(session: ProbeSession, field: str, answers: list[Exchange]) -> None:
    odd = next((each for each in answers if not accepted_or_refused(each)), None)
    if odd is not None:
        miss_undecided(session, field, odd)
    elif len({answer.succeeded for answer in answers}) > 1:
        session.answers.miss(field, DIFFERENT)
    else:
        see_taken(session, field, answers[0])


def _with(kind: UrlKind) -> str:
    return f"whose URL has {kind}"


async def _create(session: ProbeSession, role: str, url: str) -> Exchange:
    return await session.call(CREATE, role, body=session.endpoint(url=url))
