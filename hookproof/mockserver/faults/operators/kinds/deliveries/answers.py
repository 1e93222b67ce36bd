"""Operators on what follows an attempt: no other one, one too many, or one at another address."""

from collections.abc import Callable
from functools import partial
from typing import Final

from hookproof.mockserver.delivery.attempt.redirects import REDIRECTION
from hookproof.mockserver.delivery.attempt.sender import AttemptResult
from hookproof.mockserver.delivery.http_client.http1 import Response
from hookproof.mockserver.delivery.scheduling.outcomes import Outcomes
from hookproof.mockserver.delivery.scheduling.retry import IS_SUCCESS
from hookproof.mockserver.delivery.store_port import DeliveryState, Failure
from hookproof.mockserver.faults.catalogue.deliveries.odd_answers import INTERRUPTED
from hookproof.mockserver.faults.catalogue.deliveries.retries import RedirectsFollowed
from hookproof.mockserver.faults.operators.delivery_laws import violated_by_delivery
from hookproof.mockserver.faults.operators.delivery_places import REDIRECTS, SILENCES
from hookproof.mockserver.faults.operators.operator import Alteration, Parameters, operators_of
from hookproof.mockserver.faults.operators.place import Place, PlaceKind
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import RedirectOutcome

GROUP: Final = "deliveries"
_FAILURES: Final = {
    "timeout": Failure.TIMEOUT,
    "reset": Failure.CONNECTION,
    "refused": Failure.CONNECTION,
    "tls": Failure.TLS,
    "protocol": Failure.PROTOCOL,
}
# The attempt after which an answer of success is followed by another, by the parameter `when`.
_REPEATED_AFTER: Final = {"first": 1, "retry": 2}

# Whether an attempt ended as its place says.
Ended = Callable[[AttemptResult], bool]


def _ended(answer: str) -> Ended:
    """Tells the attempts with this status, class of statuses, or kind of silence."""
    if answer.endswith("xx"):
        return lambda result: result.status is not None and str(result.status)[0] == answer[0]
    if answer.isdigit():
        return lambda result: result.status == int(answer)
    failure = _FAILURES[answer]
    if failure is not Failure.CONNECTION:
        return lambda result: result.failure is failure
    is_reset = answer == "reset"
    return lambda result: (
        result.failure is failure
        and any(words in result.detail for words in INTERRUPTED) is is_reset
    )


def _counts_as(answer: str, dialect: Dialect) -> set[bool]:
    """Whether an attempt that ends so is a success: both if the dialect allows both."""
    if answer in SILENCES:
        return {False}
    retry = dialect.retry
    if answer.startswith(str(REDIRECTION)):
        if RedirectOutcome.FOLLOWED in retry.redirect.allowed:
            return {True, False}  # as what it leads to is answered
        return {outcome is RedirectOutcome.SUCCESS for outcome in retry.redirect.allowed}
    status = int(answer.replace("x", "0"))
    return {IS_SUCCESS[rule](status) for rule in retry.success.allowed}


def _may_be_final(answer: str, dialect: Dialect) -> bool:
    """Whether every status that is meant here ends a delivery, or may."""
    if answer in SILENCES:
        return False
    first = int(answer.replace("x", "0"))
    statuses = range(first, first + (100 if answer.endswith("xx") else 1))
    return all(True in dialect.retry.ends_delivery(status) for status in statuses)


def _final(place: Place, _parameters: Parameters, dialect: Dialect) -> Alteration | None:
    if place.kind is not PlaceKind.ANSWERED:
        return None
    (answer,) = place.path
    reason = ""
    if True in _counts_as(answer, dialect):
        reason = "the dialect lets it count as a success"
    elif _may_be_final(answer, dialect):
        reason = "the dialect lets it end the delivery"
    elif dialect.retry.attempts.value == 1:
        reason = "the dialect attempts a delivery once"
    return Alteration(
        part=partial(_final_after, _ended(answer)),
        violates=() if reason else violated_by_delivery(place, "final"),
        equivalent=reason,
    )


def _final_after(ended: Ended) -> type:
    class FinalAnswers(Outcomes):
        def _verdict(
            self, number: int, result: AttemptResult, now: float
        ) -> tuple[DeliveryState, float | None]:
            if ended(result):
                return DeliveryState.EXHAUSTED, None
            return super()._verdict(number, result, now)

    return FinalAnswers


def _repeated(place: Place, given: Parameters, dialect: Dialect) -> Alteration | None:
    if place.kind is not PlaceKind.ANSWERED or place.path[0][0] not in "23":
        return None
    (answer,) = place.path
    number = _REPEATED_AFTER[given["when"]]
    reason = ""
    if False in _counts_as(answer, dialect):
        reason = "the dialect lets it count as a failure"
    elif dialect.retry.attempts.value <= number:
        reason = "the dialect makes no further attempt"
    return Alteration(
        part=partial(_repeated_after, _ended(answer), number),
        violates=() if reason else violated_by_delivery(place, f"repeated_{given['when']}"),
        equivalent=reason,
    )


def _repeated_after(ended: Ended, repeated: int) -> type:
    class RepeatedSuccesses(Outcomes):
        def _verdict(
            self, number: int, result: AttemptResult, now: float
        ) -> tuple[DeliveryState, float | None]:
            due_at = self._rules.next_due(number, None) if number == repeated else None
            if due_at is not None and ended(result):
                return DeliveryState.PENDING, due_at
            return super()._verdict(number, result, now)

    return RepeatedSuccesses


def _followed(place: Place, _parameters: Parameters, dialect: Dialect) -> Alteration | None:
    if place.kind is not PlaceKind.ANSWERED or place.path[0] not in REDIRECTS:
        return None
    if RedirectOutcome.FOLLOWED in dialect.retry.redirect.allowed:
        return None
    return Alteration(
        part=partial(_following, int(place.path[0])),
        violates=violated_by_delivery(place, "followed"),
    )


def _following(status: int) -> type:
    class OneRedirectFollowed(RedirectsFollowed):
        def follows(self, response: Response) -> bool:
            return response.status == status and super().follows(response)

    return OneRedirectFollowed


_operator: Final = operators_of(GROUP)
OPERATORS: Final = (
    _operator(
        "final_answer",
        "An attempt that ends so is the last one",
        "statuses and classes of statuses that count as failures, and kinds of silence",
        _final,
    ),
    _operator(
        "success_repeated",
        "A delivery that was answered so is attempted once more",
        "statuses that count as successes",
        _repeated,
        *({"when": when} for when in _REPEATED_AFTER),
    ),
    _operator(
        "redirect_followed",
        "A redirect with this status is followed",
        "statuses that redirect",
        _followed,
    ),
)
