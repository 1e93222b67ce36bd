"""Learns from deliveries to the receiver, and from what else needs it."""

import time
from dataclasses import replace
from typing import Final

from hookproof.conformance.experiments.support.client_certificate import written_pair
from hookproof.conformance.learning.deliveries.gathering import (
    FAILING,
    SIMPLE,
    GatheredDeliveries,
    gather_deliveries,
    wait_for_retries,
)
from hookproof.conformance.learning.deliveries.listener import DeliverySession
from hookproof.conformance.learning.deliveries.readings import read_deliveries
from hookproof.conformance.learning.deliveries.retry_readings import read_retries, read_tallies
from hookproof.conformance.learning.learned_answers import in_words
from hookproof.conformance.learning.probes.authentication import MASKS, is_mask_of, see_masked
from hookproof.conformance.learning.session import BROADCAST, CREATE, GET, ProbeSession
from hookproof.conformance.model.evidence import Exchange, PreconditionFailed
from hookproof.conformance.observations.answer import sent, shown
from hookproof.conformance.subjects.custom_headers.evidence import (
    refused_for_itself,
    reserved_headers,
)
from hookproof.conformance.target.environment import NO_CA
from hookproof.process.exit_codes import CommandError
from hookproof.receiver.client.control_api import ReceiverClient
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.vocabulary import CertificateEncoding, OnInput
from hookproof.target.hooks.provision import HookFailed

# What deliveries alone show.
GROUPS: Final = ("delivery.", "retry.", "signatures.simple.", "signatures.advanced.")
MASK: Final = "representation.mask"
CLIENT_KEY: Final = "mtls_client_cert.client_key"
# How long the first events of all may take, of which a new endpoint may miss some. A target that is
# slower is examined later.
FIRST_PAUSES_S: Final = (0.2, 0.6, 2.0)
# How long retries are waited for once all else is learned.
LATE_S: Final = 10.0


async def require_trust(session: ProbeSession, receiver: ReceiverClient) -> None:
    """Raise CommandError if a first event shows that the target does not trust the receiver, as
    otherwise all else would be learned in vain. Silence shows nothing yet.
    """
    if not session.target.receiver.can_be_trusted:
        return
    delivery = DeliverySession(session=session, receiver=receiver)
    try:
        # What is required is not known yet: with a name most services create one.
        listener = await delivery.listen("whether deliveries arrive", name=session.word("endpoint"))
        if listener is None:
            return
        for pause_s in FIRST_PAUSES_S:
            if await delivery.broadcast() is None or await delivery.wait(listener, 1, pause_s):
                return
    except PreconditionFailed as failed:
        raise CommandError(str(failed)) from None
    except HookFailed as failed:
        session.hook_failures.note(failed)


async def learn_from_deliveries(
    delivery: DeliverySession, *, quick: bool, most_s: float
) -> GatheredDeliveries | None:
    """Learn what deliveries show, and return them; notes why not if there are none."""
    session = delivery.session
    if not session.target.receiver.can_be_trusted:
        note_no_deliveries(session, NO_CA)
        return None
    try:
        gathered = await gather_deliveries(delivery, quick=quick, most_s=most_s)
    except PreconditionFailed as failed:
        note_no_deliveries(session, str(failed), expected=True)
        return None
    except HookFailed as failed:
        session.hook_failures.note(failed)
        note_no_deliveries(session, f"the provision hook {failed.hook} failed")
        return None
    read_deliveries(session.answers, gathered, quick=quick)
    if session.answers.is_seen("retry.attempts"):
        await _read_failing_endpoints(session, gathered, others_sent=False)
    await probe_reserved_headers(session)
    await _probe_certificate(session, delivery.receiver)
    return gathered


async def read_late_retries(session: ProbeSession, gathered: GatheredDeliveries) -> None:
    """Look again at endpoints that fail, once others have sent events in the project.

    A schedule whose waits are long has ended by then.
    """
    if session.answers.is_seen("retry.attempts"):
        return
    await wait_for_retries(gathered.delivery, LATE_S)
    read_retries(session.answers, replace(gathered, ended_at=time.monotonic()))
    await _read_failing_endpoints(session, gathered, others_sent=True)


def note_no_deliveries(session: ProbeSession, reason: str, *, expected: bool = False) -> None:
    """Note why nothing could be learned from deliveries, although they were `expected`."""
    session.no_deliveries = reason if expected else ""
    for field in session.answers.fields:
        if field.startswith(GROUPS) and not session.answers.is_seen(field):
            session.answers.miss(field, reason)


async def _read_failing_endpoints(
    session: ProbeSession, gathered: GatheredDeliveries, *, others_sent: bool
) -> None:
    fetched = {}
    for name, listener in gathered.listeners.items():
        if name.startswith(FAILING) or name == SIMPLE:
            answer = await session.call(GET, name, path={"endpointID": listener.uid})
            if answer.succeeded:
                fetched[name] = shown(answer)
    healthy = fetched.pop(SIMPLE, {})
    read_tallies(session.answers, gathered, fetched, healthy, others_sent=others_sent)


async def probe_reserved_headers(session: ProbeSession) -> None:
    """Custom headers with the names of those that the service sets itself.

    A service may refuse some and ignore others: whoever reads a list of forbidden names has not
    always thought of those that HTTP or a library adds.
    """
    answers = session.answers
    if not answers.is_seen("signatures.simple.header"):
        return
    # A header that is only assumed is an ordinary one to the service.
    fields = [each for each in answers.fields if each.startswith(GROUPS) and "header" in each]
    known = [answers.value(each) for each in fields if answers.is_seen(each)]
    assumed = [answers.value(each) for each in fields if not answers.is_seen(each)]
    seen: dict[OnInput, Exchange] = {}
    for name in reserved_headers(answers.dialect):
        if name in assumed and name not in known:
            continue
        body = session.bodies.broadcast(custom_headers={name: "of the sender"})
        answer = await session.call(BROADCAST, f"with {name} as a custom header", body=body)
        if answer.succeeded:
            seen.setdefault(OnInput.IGNORED, answer)
        elif refused_for_itself(answer):
            seen.setdefault(OnInput.REFUSED, answer)
    if seen:
        shown_by = " and ".join(map(in_words, seen.values()))
        answers.see("delivery.reserved_headers", *map(str, seen), shown_by=shown_by)


async def _probe_certificate(session: ProbeSession, receiver: ReceiverClient) -> None:
    """The ways of writing a client certificate that are accepted."""
    field, accepted = "requests.client_certificate", []
    issued = await receiver.client_certificate(session.word("client"))
    for encoding in CertificateEncoding:
        dialect = session.bodies.dialect
        requests = replace(dialect.requests, client_certificate=Answer((encoding,)))
        pair = written_pair(issued, replace(dialect, requests=requests))
        answer = await session.call(
            CREATE,
            f"with a client certificate as {encoding}",
            body=session.endpoint(mtls_client_cert=pair),
        )
        if answer.succeeded:
            accepted.append(encoding.value)
            proof = answer
            _read_masked_key(session, answer)
    if len(accepted) == 1:
        session.answers.see(field, *accepted, shown_by=proof)
    else:
        session.answers.miss(
            field, f"of the known ways to write it, {len(accepted)} are accepted; one would show it"
        )


def _read_masked_key(session: ProbeSession, created: Exchange) -> None:
    """Whether the answer to a creation masks the client's key (section 2.3)."""
    pair, answers = shown(created).get("mtls_client_cert"), session.answers
    text = pair.get("client_key") if isinstance(pair, dict) else None
    if not isinstance(text, str) or not text:
        return
    key = sent(created)["mtls_client_cert"]["client_key"]
    is_masked = text != key and (is_mask_of(text, key) or text == answers.value(MASK))
    if text == key or is_masked:
        see_masked(session, [CLIENT_KEY] if is_masked else [], [CLIENT_KEY], created)
    if is_masked and MASKS.fullmatch(text):
        answers.see(MASK, text, shown_by=created)
