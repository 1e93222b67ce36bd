"""What else the proof of a failure shows to be wrong, so that one defect makes one finding.

A server that signs the wrong bytes violates every requirement about signatures, and a server that
answers 500, or as if the key were wrong, violates every requirement about that request. A cause is
named only where the proof itself shows it.
"""

from collections.abc import Sequence

from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.evidence import Exchange, NotExaminedError, Observation
from hookproof.conformance.model.judgement import Judgement, Subject
from hookproof.conformance.observations.answer import SERVER_ERRORS
from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.conformance.target.client import Key
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.groups.errors import REFUSALS
from hookproof.spec.dialect.model import Dialect


def root_cause(judgement: Judgement, observation: Observation, context: CheckContext) -> str:
    """The cause of a failure in a few words; empty if the proof shows the failure alone."""
    if judgement.subject is Subject.REQUEST:
        return ""
    broken = _broken_answer(judgement.exchanges, context.dialect)
    if broken or judgement.subject is not Subject.SIGNATURE:
        return broken
    if not isinstance(observation, DeliveryObservation):
        return ""
    return _unsigned(judgement.deliveries, observation, context)


def _broken_answer(exchanges: Sequence[Exchange], dialect: Dialect) -> str:
    """Whether the last exchange of the proof was unanswered, or its answer tells nothing of it."""
    last = exchanges[-1] if exchanges else None
    if last is None or last.operation_id is None:
        return ""
    if last.status is None:
        return f"{last.operation_id} is not answered"
    answered = f"{last.operation_id} is answered with {last.status}"
    if last.status in SERVER_ERRORS:
        return answered
    if last.key == Key.OWN and last.status in _key_statuses(dialect):
        return f"{answered}, as if the key or the project were wrong"
    return ""


def _key_statuses(dialect: Dialect) -> set[int]:
    """The statuses for a wrong key that say nothing of the request."""
    errors, keys = dialect.errors, dialect.authentication
    of_request = [refusal for refusal in REFUSALS if refusal != "unknown_project"]
    others = {
        status
        for refusal in of_request
        for answer in errors.statuses(refusal)
        for status in answer.allowed
    }
    return {*keys.missing_key_status.allowed, *keys.wrong_key_status.allowed} - others


def _unsigned(
    deliveries: Sequence[ReceivedDelivery], observation: DeliveryObservation, context: CheckContext
) -> str:
    """Why no secret of their endpoints signed these deliveries; empty if one did.

    A body that was signed in another form and a secret that is another one are two causes, although
    no signature matches in either case.
    """
    reasons: list[str] = []
    for delivery in deliveries:
        try:
            reading = observation.signature(delivery, context)
        except NotExaminedError:
            return ""
        if reading.verified:
            return ""
        steps = " and ".join(reading.wrong_steps)
        reasons.append(f"{reading.reason}{f'; wrong in signing: {steps}' if steps else ''}")
    return f"deliveries are not validly signed: {reasons[0]}" if reasons else ""
