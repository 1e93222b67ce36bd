"""How often, when and why a delivery is retried (sections 1, 3 and 6)."""

from collections import Counter
from http import HTTPStatus
from typing import Any, Final

import msgspec

from hookproof.mockserver.delivery.attempt.sender import AttemptResult, AttemptSender
from hookproof.mockserver.delivery.http_client.http1 import Response
from hookproof.mockserver.delivery.http_client.transport import ParsedUrl, Transport, parse_url
from hookproof.mockserver.delivery.scheduling.outcomes import Outcomes
from hookproof.mockserver.delivery.scheduling.retry import RetryRules
from hookproof.mockserver.delivery.store_port import DeliveryState, Failure, PendingDelivery, Record
from hookproof.mockserver.faults.catalogue.deliveries.odd_answers import INTERRUPTED
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.misread_dialect import misread_group
from hookproof.spec.dialect.groups.deliveries import Retry
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import FinalStatus, RedirectOutcome, RetryAfter

RETRIES: Final = ("retries",)
EXHAUSTION: Final = ("exhaustion",)


class MisreadRetry(RetryRules):
    """Retries by the rules that `misread` returns."""

    def __init__(self, retry: Retry, *further: Any) -> None:
        super().__init__(self.misread(retry), *further)

    def misread(self, retry: Retry) -> Retry:
        return retry


@fault("attempts_enough", seen="the last one never runs", shows_in=EXHAUSTION)
class LastAttemptMissing(MisreadRetry):
    """The last attempt that the dialect allows is never made."""

    def misread(self, retry: Retry) -> Retry:
        return misread_group(retry, "attempts", retry.attempts.value - 1)


@fault(
    "attempts_end disabled_after_failures chat_notified",
    seen="retries that never stop",
    shows_in=EXHAUSTION,
)
class RetriedIndefinitely(MisreadRetry):
    """A delivery that keeps failing is never given up."""

    def misread(self, retry: Retry) -> Retry:
        return misread_group(retry, "attempts", 1_000_000)


@fault(
    "attempt_waits",
    seen="wrong delay",
    shows_in=RETRIES,
    where=lambda dialect: dialect.retry.initial_s.value >= 1,
)
class RetriedAtOnce(MisreadRetry):
    """Retries follow without a wait."""

    def misread(self, retry: Retry) -> Retry:
        return misread_group(retry, "initial_s", 0.0)


@fault("attempt_waits", seen="wrong delay", shows_in=RETRIES)
class RetriedLate(MisreadRetry):
    """The wait before the first retry is at least four seconds too long."""

    def next_due(self, attempts: int, retry_after: str | None) -> float | None:
        due = super().next_due(attempts, retry_after)
        if due is None or attempts != 1 or retry_after is not None:
            return due
        return due + 4 + self._retry.initial_s.value


@fault(
    "success_is_final attempt_waits",
    seen="an answer that came after the lease of the job was over",
    shows_in=RETRIES,
)
class RetriedAfterSuccess(Outcomes):
    """A delivery that succeeds on a retry is repeated, up to its fourth attempt."""

    def _verdict(
        self, number: int, result: AttemptResult, now: float
    ) -> tuple[DeliveryState, float | None]:
        state, due_at = super()._verdict(number, result, now)
        if state is DeliveryState.DELIVERED and 1 < number < 4:
            return DeliveryState.PENDING, self._rules.next_due(1, None)
        return state, due_at


@fault("failure_retried retry_after", seen="stuck after an error", shows_in=RETRIES)
class ErrorAnswersAreFinal(RetryRules):
    """An attempt that is answered with a status of 400 or above, but 500, is the last one."""

    def is_success(self, status: int) -> bool:
        is_final = status // 100 >= 4 and status != HTTPStatus.INTERNAL_SERVER_ERROR
        return is_final or super().is_success(status)


@fault(
    "failure_retried",
    seen="410 taken for the end of an endpoint",
    shows_in=RETRIES,
    where=lambda dialect: dialect.retry.final_status.prefers(FinalStatus.NONE),
)
class GoneIsFinal(MisreadRetry):
    """An attempt that is answered with 410 is the last one, although the dialect has no such."""

    def misread(self, retry: Retry) -> Retry:
        return misread_group(retry, "final_status", FinalStatus.ONLY_410)


@fault(
    "failure_retried",
    seen="retries of what was refused for good",
    shows_in=RETRIES,
    where=lambda dialect: not dialect.retry.final_status.allows(FinalStatus.NONE),
)
class FinalStatusIgnored(MisreadRetry):
    """A delivery is attempted again after an answer that ends it."""

    def misread(self, retry: Retry) -> Retry:
        return misread_group(retry, "final_status", FinalStatus.NONE)


@fault(
    "attempts_end",
    seen="an answer that is taken for a trouble of the credentials, and not counted",
    shows_in=EXHAUSTION,
    where=lambda dialect: dialect.retry.final_status.prefers(FinalStatus.NONE),
)
class ForbiddenNotCounted(Outcomes):
    """An attempt that is answered with 403 does not count as one."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._uncounted: Counter[int] = Counter()
        self._delivery = 0

    def record_attempt(
        self, delivery: PendingDelivery, result: AttemptResult, started_at: float
    ) -> Record:
        self._delivery = delivery.id
        self._uncounted[delivery.id] += result.status == HTTPStatus.FORBIDDEN
        return super().record_attempt(delivery, result, started_at)

    def _verdict(
        self, number: int, result: AttemptResult, now: float
    ) -> tuple[DeliveryState, float | None]:
        return super()._verdict(max(1, number - self._uncounted[self._delivery]), result, now)


@fault("silence_retried", seen="connection errors not retried", shows_in=RETRIES)
class SilenceIsFinal(Outcomes):
    """An attempt without an answer is the last one."""

    def _verdict(
        self, number: int, result: AttemptResult, now: float
    ) -> tuple[DeliveryState, float | None]:
        if result.failure is not None:
            return DeliveryState.EXHAUSTED, None
        return super()._verdict(number, result, now)


@fault("silence_retried", seen="a host that is down taken for one that is gone", shows_in=RETRIES)
class RefusedConnectionIsFinal(Outcomes):
    """An attempt whose connection is refused is the last one."""

    def _verdict(
        self, number: int, result: AttemptResult, now: float
    ) -> tuple[DeliveryState, float | None]:
        if result.failure is Failure.CONNECTION and not any(
            words in result.detail for words in INTERRUPTED
        ):
            return DeliveryState.EXHAUSTED, None
        return super()._verdict(number, result, now)


@fault("silence_retried", shows_in=("certificates",))
class TlsFailureIsFinal(Outcomes):
    """An attempt that fails in the TLS handshake is the last one."""

    def _verdict(
        self, number: int, result: AttemptResult, now: float
    ) -> tuple[DeliveryState, float | None]:
        if result.failure is Failure.TLS:
            return DeliveryState.EXHAUSTED, None
        return super()._verdict(number, result, now)


def redirects_are_followed(dialect: Dialect) -> bool:
    return dialect.retry.redirect.value is RedirectOutcome.FOLLOWED


@fault("redirect_counted", shows_in=RETRIES, where=redirects_are_followed)
class RedirectNotFollowed(AttemptSender):
    """A redirect is not followed, although the dialect says so."""

    def __init__(self, *collaborators: Any, **further: Any) -> None:
        super().__init__(*collaborators, **further)
        self._follows_redirects = False


@fault(
    "redirect_counted", shows_in=RETRIES, where=lambda dialect: not redirects_are_followed(dialect)
)
class RedirectMistaken(MisreadRetry):
    """A redirect counts as a success where the dialect says failure, and the reverse."""

    def misread(self, retry: Retry) -> Retry:
        fails = retry.redirect.value is RedirectOutcome.FAILURE
        return misread_group(
            retry, "redirect", RedirectOutcome.SUCCESS if fails else RedirectOutcome.FAILURE
        )


@fault(
    "retry_after",
    seen="Retry-After ignored",
    shows_in=RETRIES,
    where=lambda dialect: dialect.retry.retry_after.value is RetryAfter.HONOURED,
)
class RetryAfterIgnored(MisreadRetry):
    """Retry-After is ignored."""

    def misread(self, retry: Retry) -> Retry:
        return misread_group(retry, "retry_after", RetryAfter.IGNORED)


@fault(
    "retry_after",
    seen="Retry-After ignored",
    shows_in=RETRIES,
    where=lambda dialect: (
        dialect.retry.retry_after.value is RetryAfter.HONOURED
        and not dialect.retry.final_status.prefers(FinalStatus.ANY_4XX)
    ),
)
class RetryAfterOfLimitIgnored(Outcomes):
    """Retry-After is read where an endpoint is unavailable, and not where it limits requests."""

    def _verdict(
        self, number: int, result: AttemptResult, now: float
    ) -> tuple[DeliveryState, float | None]:
        if result.status == HTTPStatus.TOO_MANY_REQUESTS:
            result = msgspec.structs.replace(result, retry_after=None)
        return super()._verdict(number, result, now)


@fault(
    "redirect_counted redirect_unfollowed token_redirect_unfollowed",
    seen="redirects followed",
    shows_in=[*RETRIES, "credentials"],
    where=lambda dialect: not redirects_are_followed(dialect),
)
class RedirectsFollowed(Transport):
    """A redirect from an endpoint or a token URL is followed."""

    async def exchange(self, method: str, url: ParsedUrl, *further: Any, **more: Any) -> Response:
        response = await super().exchange(method, url, *further, **more)
        if not self.follows(response):
            return response
        location = parse_url(response.header("Location") or "")
        return await super().exchange(method, location, *further, **more)

    def follows(self, response: Response) -> bool:
        return response.header("Location") is not None


@fault("disabled_after_failures chat_notified", shows_in=EXHAUSTION)
class DisabledAtTheFirst(Outcomes):
    """An endpoint is disabled at its first exhausted delivery."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._deactivate_after = 1


@fault(
    "disabled_after_failures chat_notified",
    shows_in=EXHAUSTION,
    where=lambda dialect: dialect.retry.deactivate_after.value > 0,
)
class NeverDisabled(Outcomes):
    """An endpoint that keeps failing is never disabled."""

    def _fails_too_often(self, endpoint_uid: str) -> bool:
        return False
