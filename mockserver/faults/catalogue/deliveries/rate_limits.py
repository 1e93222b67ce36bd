"""Limits: how much an endpoint gets in how much time, and how long it may take to answer (section
8).
"""

from dataclasses import replace
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.handlers.endpoints import EndpointHandlers
from hookproof.mockserver.api.service import OperationCall, OperationResult, Service
from hookproof.mockserver.delivery.scheduling.dispatcher import Dispatcher
from hookproof.mockserver.delivery.scheduling.endpoint_queue import EndpointQueue
from hookproof.mockserver.delivery.scheduling.rate_limit import AttemptKey, SlidingWindow
from hookproof.mockserver.delivery.store_port import EndpointSettings
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.misread_dialect import mistaken
from hookproof.mockserver.store.deliveries import Deliveries
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Excess, ZeroLimit

RATE: Final = ("rate_limit",)
TIMEOUT: Final = ("timeout",)

_RATE_LIMIT: Final = "SELECT json_extract(document, '$.rate_limit') FROM endpoints WHERE uid = ?"


def excess_waits(dialect: Dialect) -> bool:
    """Whether what is above a limit comes in the end, so that it can be counted."""
    return dialect.delivery.excess.value is Excess.WAITS


class OtherSettings(Deliveries):
    """Delivers by other settings than the endpoint's."""

    def endpoint(self, uid: str) -> EndpointSettings | None:
        """The settings, changed."""
        found = super().endpoint(uid)
        return None if found is None else self.changed(found)

    def changed(self, endpoint: EndpointSettings) -> EndpointSettings:
        """Other settings."""
        return endpoint


@fault("8-1", "8-2", "8-4", seen="limits ignored", shows_in=RATE)
class NoRateLimit(OtherSettings):
    """The rate_limit of an endpoint is ignored."""

    def changed(self, endpoint: EndpointSettings) -> EndpointSettings:
        """Without one."""
        return msgspec.structs.replace(endpoint, rate_limit=None)


@fault("8-1", "8-2", "8-4", seen="seconds against milliseconds", shows_in=RATE)
class WindowInAnotherUnit(OtherSettings):
    """The rate_limit_duration of an endpoint is counted in a unit that is a thousand times as
    short.
    """

    def changed(self, endpoint: EndpointSettings) -> EndpointSettings:
        """A thousandth."""
        return msgspec.structs.replace(endpoint, rate_window_s=endpoint.rate_window_s / 1000)


@fault("8-2", seen="off by one: a limit that counts from zero", shows_in=RATE, where=excess_waits)
class LimitOffByOne(OtherSettings):
    """An endpoint gets one request more than its rate_limit."""

    def changed(self, endpoint: EndpointSettings) -> EndpointSettings:
        """One more."""
        return msgspec.structs.replace(
            endpoint, rate_limit=endpoint.rate_limit + 1 if endpoint.rate_limit else None
        )


class FixedWindow(SlidingWindow):
    """Counts in windows that follow one another, each from its first request on."""

    def __init__(self, limit: int, window_s: float) -> None:
        super().__init__(limit, window_s)
        self._began = 0.0
        self._started = 0

    def wait_s(self, now: float) -> float:
        """How long until this window is over, if it is full."""
        if now - self._began >= self.window_s:
            self._began, self._started = now, 0
        return 0.0 if self._started < self.limit else self._began + self.window_s - now

    def start(self, attempt: AttemptKey) -> None:
        """Count an attempt."""
        super().start(attempt)
        self._started += 1


@fault("8-2", seen="twice the limit at a window's edge", shows_in=RATE, where=excess_waits)
class WindowsWithEdges(EndpointQueue):
    """Requests are counted in fixed windows, so that twice the limit goes out around an edge."""

    def new_window(self, limit: int, window_s: float) -> SlidingWindow:
        """A window with edges."""
        return FixedWindow(limit, window_s)


@fault("8-1", "8-2", seen="check-then-act overshoot", shows_in=RATE, where=excess_waits)
class RetriesNotCounted(EndpointQueue):
    """A place in the window is free again once its attempt is over."""

    def new_window(self, limit: int, window_s: float) -> SlidingWindow:
        """A bound on what is under way."""
        return UnderWay(limit, window_s)


class UnderWay(SlidingWindow):
    """Counts what is under way alone."""

    def end(self, attempt: AttemptKey, now: float, *, answered: bool) -> None:
        """Free again."""
        super().end(attempt, now - self.window_s, answered=answered)


@fault("8-3", "8-4", seen="one global bucket starves others", shows_in=RATE, where=excess_waits)
class OneWindowForAll(EndpointQueue):
    """Endpoints of the same rate_limit share it, so that most of what they are owed does not come
    in time.
    """

    def new_window(self, limit: int, window_s: float) -> SlidingWindow:
        """The same for everybody."""
        return _SHARED.setdefault(limit, SlidingWindow(limit, window_s))


_SHARED: Final[dict[int, SlidingWindow]] = {}


@fault("8-3", also=["1-1"], seen="a default limit for everybody", shows_in=RATE)
class EverybodyLimited(OtherSettings):
    """An endpoint without a rate_limit, which one of 0 is not, is limited to five requests in two
    seconds.
    """

    def changed(self, endpoint: EndpointSettings) -> EndpointSettings:
        """A limit for those without."""
        (given,) = self._database.read(_RATE_LIMIT, (endpoint.uid,)).fetchone()
        return (
            endpoint
            if given is not None
            else msgspec.structs.replace(endpoint, rate_limit=5, rate_window_s=2.0)
        )


@fault("8-4", shows_in=RATE)
class ExcessMistaken(Dispatcher):
    """Deliveries above the rate limit are dropped where they should wait, and wait where they
    should be dropped.
    """

    def __init__(self, *arguments: Any, over_limit: Excess, **further: Any) -> None:
        other = Excess.DROPPED if over_limit is Excess.WAITS else Excess.WAITS
        super().__init__(*arguments, over_limit=other, **further)


@fault(
    "8-5",
    shows_in=RATE,
    where=lambda dialect: dialect.delivery.zero_rate_limit.value is ZeroLimit.UNLIMITED,
)
class ZeroMeansNothing(OtherSettings):
    """A rate_limit of 0 lets nothing through."""

    def changed(self, endpoint: EndpointSettings) -> EndpointSettings:
        """Nothing goes out."""
        (given,) = self._database.read(_RATE_LIMIT, (endpoint.uid,)).fetchone()
        return msgspec.structs.replace(endpoint, receives=False) if given == 0 else endpoint


@fault(
    "8-5",
    shows_in=["refusals"],
    where=lambda dialect: dialect.delivery.zero_rate_limit.value is ZeroLimit.UNLIMITED,
)
class ZeroLimitMistaken(EndpointHandlers):
    """A rate_limit of 0 is refused where it is to be taken."""

    def create(self, call: OperationCall) -> OperationResult:
        """Not 0."""
        if call.body.get("rate_limit") == 0:
            raise self._service.errors.invalid("/rate_limit: is 1 at least")
        return super().create(call)


@fault("8-6", shows_in=RATE)
class OtherDefaultDuration(EndpointHandlers):
    """A rate_limit without rate_limit_duration counts over twice the dialect's default time."""

    def __init__(self, service: Service) -> None:
        twice = 2 * service.dialect.delivery.default_rate_limit_duration.value
        dialect = mistaken(service.dialect, "delivery.default_rate_limit_duration", twice)
        super().__init__(replace(service, dialect=dialect))


@fault("8-6", shows_in=RATE)
class DefaultDurationOffByOne(EndpointHandlers):
    """A rate_limit without rate_limit_duration counts over one unit more than the dialect's default
    time.
    """

    def __init__(self, service: Service) -> None:
        more = 1 + service.dialect.delivery.default_rate_limit_duration.value
        dialect = mistaken(service.dialect, "delivery.default_rate_limit_duration", more)
        super().__init__(replace(service, dialect=dialect))


@fault("8-7", "8-9", "8-19", also=["1-17"], seen="no time-out", shows_in=TIMEOUT)
class NoTimeout(OtherSettings):
    """A delivery is never given up for want of an answer."""

    def changed(self, endpoint: EndpointSettings) -> EndpointSettings:
        """An hour."""
        return msgspec.structs.replace(endpoint, http_timeout_s=3600.0)


@fault("8-8", also=["4.8-15"], seen="milliseconds against seconds", shows_in=TIMEOUT)
class TimeoutTooShort(OtherSettings):
    """A delivery is given up after half a second, whatever its http_timeout is."""

    def changed(self, endpoint: EndpointSettings) -> EndpointSettings:
        """Half a second."""
        return msgspec.structs.replace(endpoint, http_timeout_s=0.5)


@fault("8-9", shows_in=TIMEOUT)
class OtherDefaultTimeout(EndpointHandlers):
    """Without http_timeout a delivery is given up ten seconds later than the dialect says."""

    def __init__(self, service: Service) -> None:
        longer = service.dialect.delivery.default_timeout_s.value + 10
        super().__init__(
            replace(
                service, dialect=mistaken(service.dialect, "delivery.default_timeout_s", longer)
            )
        )
