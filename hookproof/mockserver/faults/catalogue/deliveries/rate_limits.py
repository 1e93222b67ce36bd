"""Rate limits and time-outs of deliveries (section 8)."""

from typing import Any, Final

import msgspec

from hookproof.mockserver.api.handlers.endpoints import EndpointHandlers
from hookproof.mockserver.api.service import ApiService, OperationCall, OperationResult
from hookproof.mockserver.delivery.scheduling.dispatcher import Dispatcher
from hookproof.mockserver.delivery.scheduling.endpoint_queue import EndpointQueue
from hookproof.mockserver.delivery.scheduling.rate_limit import AttemptKey, SlidingWindow
from hookproof.mockserver.delivery.store_port import EndpointSettings
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_endpoints import AlteredSettings
from hookproof.mockserver.faults.support.misread_dialect import misread_service
from hookproof.mockserver.store.database import Database
from hookproof.mockserver.store.deliveries import UNLIMITED_S
from hookproof.spec.dialect.given_settings import zero_http_timeout
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Excess, ZeroLimit, ZeroTimeout

RATE: Final = ("rate_limit",)
TIMEOUT: Final = ("timeout",)

# The longest default time-out that a run of the standard profile waits out.
SHORT_DEFAULT_S: Final = 5

_REQUESTED: Final = "SELECT json_extract(document, '$.' || ?) FROM endpoints WHERE uid = ?"
# One window for all endpoints with the same rate_limit.
_SHARED_WINDOWS: Final[dict[int, SlidingWindow]] = {}


def requested_setting(database: Database, endpoint: EndpointSettings, name: str) -> int | None:
    """A number as it was requested: settings have what a 0 means."""
    (requested,) = database.read(_REQUESTED, (name, endpoint.uid)).fetchone()
    return None if requested is None else int(requested)


def over_limit_waits(dialect: Dialect) -> bool:
    """Whether deliveries over the limit are delayed, so that they can be counted."""
    return dialect.delivery.excess.value is Excess.WAITS


@fault("rate_limit rate_limit_everywhere over_limit", seen="limits ignored", shows_in=RATE)
class NoRateLimit(AlteredSettings):
    """The rate_limit of an endpoint is ignored."""

    def alter_settings(self, endpoint: EndpointSettings) -> EndpointSettings:
        return msgspec.structs.replace(endpoint, rate_limit=None)


@fault(
    "rate_limit rate_limit_everywhere over_limit",
    seen="seconds against microseconds",
    shows_in=RATE,
)
class WindowInAnotherUnit(AlteredSettings):
    """The rate_limit_duration of an endpoint is read in a unit a million times too short."""

    def alter_settings(self, endpoint: EndpointSettings) -> EndpointSettings:
        return msgspec.structs.replace(endpoint, rate_window_s=endpoint.rate_window_s / 1e6)


@fault(
    "rate_limit rate_limit_everywhere",
    seen="off by one: a limit that counts from zero",
    shows_in=RATE,
    where=over_limit_waits,
)
class LimitOffByOne(AlteredSettings):
    """An endpoint gets one request more than its rate_limit allows."""

    def alter_settings(self, endpoint: EndpointSettings) -> EndpointSettings:
        return msgspec.structs.replace(
            endpoint, rate_limit=endpoint.rate_limit + 1 if endpoint.rate_limit else None
        )


class FixedWindow(SlidingWindow):
    """Counts in adjoining windows, each of which starts with its first request."""

    def __init__(self, limit: int, window_s: float) -> None:
        super().__init__(limit, window_s)
        self._window_start = -window_s
        self._window_attempts = 0

    def wait_s(self, now: float) -> float:
        start = self.window_start(now)
        if start != self._window_start:
            self._window_start, self._window_attempts = start, 0
        return 0.0 if self._window_attempts < self.limit else start + self.window_s - now

    def window_start(self, now: float) -> float:
        """When the window began that `now` is in."""
        return now if now - self._window_start >= self.window_s else self._window_start

    def start(self, attempt: AttemptKey) -> None:
        super().start(attempt)
        self._window_attempts += 1


class ClockWindow(FixedWindow):
    """Counts in windows that start at the multiples of their length, whenever requests come."""

    def window_start(self, now: float) -> float:
        return now // self.window_s * self.window_s


@fault("rate_limit_everywhere", seen="twice the limit at a window's edge", shows_in=RATE)
class WindowsWithEdges(EndpointQueue):
    """Requests are counted in fixed windows, so twice the limit goes out around an edge."""

    def new_window(self, limit: int, window_s: float) -> SlidingWindow:
        return FixedWindow(limit, window_s)


@fault(
    "rate_limit_everywhere",
    seen="twice the limit where a counter's key is the time in windows",
    shows_in=RATE,
)
class WindowsOfTheClock(EndpointQueue):
    """Requests are counted in windows that begin when the clock says, the same for everybody."""

    def new_window(self, limit: int, window_s: float) -> SlidingWindow:
        return ClockWindow(limit, window_s)


@fault(
    "rate_limit rate_limit_everywhere",
    seen="check-then-act overshoot",
    shows_in=RATE,
    where=over_limit_waits,
)
class FinishedAttemptsNotCounted(EndpointQueue):
    """An attempt counts against the rate_limit only while it is under way."""

    def new_window(self, limit: int, window_s: float) -> SlidingWindow:
        return InFlightWindow(limit, window_s)


class InFlightWindow(SlidingWindow):
    """Counts only attempts that are under way."""

    def end(self, attempt: AttemptKey, now: float, *, answered: bool) -> None:
        super().end(attempt, now - self.window_s, answered=answered)


@fault(
    "limits_apart", seen="one global bucket starves others", shows_in=RATE, where=over_limit_waits
)
class OneWindowForAll(EndpointQueue):
    """Endpoints with the same rate_limit share one limit."""

    def new_window(self, limit: int, window_s: float) -> SlidingWindow:
        return _SHARED_WINDOWS.setdefault(limit, SlidingWindow(limit, window_s))


@fault(
    "limits_apart",
    seen="a default limit for everybody",
    shows_in=RATE,
    where=lambda dialect: dialect.delivery.excess.value is Excess.WAITS,
)
class EverybodyLimited(AlteredSettings):
    """An endpoint without a rate_limit is limited to six requests in two seconds."""

    def alter_settings(self, endpoint: EndpointSettings) -> EndpointSettings:
        rate_limit = requested_setting(self._database, endpoint, "rate_limit")
        if rate_limit is not None:
            return endpoint
        return msgspec.structs.replace(endpoint, rate_limit=6, rate_window_s=2.0)


@fault("over_limit", shows_in=RATE)
class OverLimitMistaken(Dispatcher):
    """Deliveries over the limit are dropped where the dialect delays them, and the reverse."""

    def __init__(self, *arguments: Any, over_limit: Excess, **further: Any) -> None:
        other = Excess.DROPPED if over_limit is Excess.WAITS else Excess.WAITS
        super().__init__(*arguments, over_limit=other, **further)


@fault(
    "zero_rate_limit",
    shows_in=RATE,
    where=lambda dialect: dialect.delivery.zero_rate_limit.value is ZeroLimit.UNLIMITED,
)
class ZeroMeansNothing(AlteredSettings):
    """An endpoint with a rate_limit of 0 receives nothing."""

    def alter_settings(self, endpoint: EndpointSettings) -> EndpointSettings:
        rate_limit = requested_setting(self._database, endpoint, "rate_limit")
        return msgspec.structs.replace(endpoint, receives=False) if rate_limit == 0 else endpoint


@fault(
    "zero_rate_limit",
    shows_in=["refusals"],
    where=lambda dialect: dialect.delivery.zero_rate_limit.value is ZeroLimit.UNLIMITED,
)
class ZeroLimitRefused(EndpointHandlers):
    """An endpoint with a rate_limit of 0 is refused."""

    def create(self, call: OperationCall) -> OperationResult:
        if call.body.get("rate_limit") == 0:
            raise self._service.errors.invalid("/rate_limit: is 1 at least")
        return super().create(call)


def a_duration_is_needed(dialect: Dialect) -> bool:
    return dialect.delivery.default_rate_limit_duration.value > 0


@fault("default_duration", shows_in=RATE, where=lambda dialect: not a_duration_is_needed(dialect))
class LimitedWithoutDuration(AlteredSettings):
    """A rate_limit without rate_limit_duration counts over a minute, and should not count."""

    def alter_settings(self, endpoint: EndpointSettings) -> EndpointSettings:
        rate_limit = requested_setting(self._database, endpoint, "rate_limit")
        if not rate_limit or endpoint.rate_limit is not None:
            return endpoint
        return msgspec.structs.replace(endpoint, rate_limit=rate_limit, rate_window_s=60.0)


@fault("default_duration", shows_in=RATE, where=a_duration_is_needed)
class OtherDefaultDuration(EndpointHandlers):
    """Without rate_limit_duration a limit counts over twice the dialect's default time."""

    def __init__(self, service: ApiService) -> None:
        twice = 2 * service.dialect.delivery.default_rate_limit_duration.value
        super().__init__(misread_service(service, "delivery.default_rate_limit_duration", twice))


@fault("default_duration", shows_in=RATE)
class DefaultDurationOffByOne(EndpointHandlers):
    """Without rate_limit_duration a limit counts over one unit more than the default."""

    def __init__(self, service: ApiService) -> None:
        more = 1 + service.dialect.delivery.default_rate_limit_duration.value
        super().__init__(misread_service(service, "delivery.default_rate_limit_duration", more))


@fault(
    "timeout default_timeout endless_answer zero_timeout silence_retried interim_timeout",
    seen="no time-out",
    shows_in=[*TIMEOUT, "retries", "odd_answers"],
)
class NoTimeout(AlteredSettings):
    """An attempt waits an hour for its answer, whatever http_timeout says."""

    def alter_settings(self, endpoint: EndpointSettings) -> EndpointSettings:
        return msgspec.structs.replace(endpoint, http_timeout_s=3600.0)


@fault("not_before_timeout zero_timeout", seen="milliseconds against seconds", shows_in=TIMEOUT)
class TimeoutTooShort(AlteredSettings):
    """An attempt is given up after half a second, whatever http_timeout says."""

    def alter_settings(self, endpoint: EndpointSettings) -> EndpointSettings:
        return msgspec.structs.replace(endpoint, http_timeout_s=0.5)


@fault("default_timeout", shows_in=TIMEOUT)
class OtherDefaultTimeout(EndpointHandlers):
    """Without http_timeout an attempt waits ten seconds longer than the dialect says."""

    def __init__(self, service: ApiService) -> None:
        longer = service.dialect.delivery.default_timeout_s.value + 10
        super().__init__(misread_service(service, "delivery.default_timeout_s", longer))


@fault(
    "number_within_bounds zero_timeout",
    shows_in=["refusals"],
    where=lambda dialect: ZeroTimeout.REFUSED not in zero_http_timeout(dialect).allowed,
)
class ZeroTimeoutRefused(EndpointHandlers):
    """An endpoint with an http_timeout of 0 is refused."""

    def create(self, call: OperationCall) -> OperationResult:
        if call.body.get("http_timeout") == 0:
            raise self._service.errors.invalid("/http_timeout: is 1 at least")
        return super().create(call)


class ZeroTimeoutMistaken(AlteredSettings):
    """Waits `instead_s` seconds for an endpoint whose http_timeout is 0."""

    instead_s = 0.0

    def alter_settings(self, endpoint: EndpointSettings) -> EndpointSettings:
        if requested_setting(self._database, endpoint, "http_timeout") != 0:
            return endpoint
        return msgspec.structs.replace(endpoint, http_timeout_s=self.instead_s)


@fault(
    "zero_timeout",
    seen="a deadline of now",
    shows_in=TIMEOUT,
    where=lambda dialect: zero_http_timeout(dialect).value is ZeroTimeout.DEFAULT,
)
class ZeroTimeoutIsNow(ZeroTimeoutMistaken):
    """An attempt at an endpoint with an http_timeout of 0 is given up at once."""


@fault(
    "zero_timeout",
    seen="an HTTP client for which 0 is no limit",
    shows_in=TIMEOUT,
    where=lambda dialect: (
        zero_http_timeout(dialect).value is ZeroTimeout.DEFAULT
        and dialect.delivery.default_timeout_s.value <= SHORT_DEFAULT_S
    ),
)
class ZeroTimeoutNeverEnds(ZeroTimeoutMistaken):
    """An attempt at an endpoint with an http_timeout of 0 waits for its answer without end."""

    instead_s = UNLIMITED_S
