"""The fields of a dialect about deliveries and their attempts (sections 1, 4.8 and 6)."""

from dataclasses import dataclass
from typing import Annotated

from hookproof.spec.dialect.answer import NOT_ASKED, Answer
from hookproof.spec.dialect.constraints import AMOUNT, COUNT, HEADER, Range
from hookproof.spec.dialect.vocabulary import (
    CLIENT_ERROR,
    Acceptance,
    BothContacts,
    CreationVisit,
    Excess,
    FinalStatus,
    FormEncoding,
    Notify,
    OnInput,
    Reach,
    RedirectOutcome,
    RetryAfter,
    SuccessStatus,
    TimeUnit,
    TokenScheme,
    ZeroLimit,
    ZeroTimeout,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Section 1: attempts.

    The n-th wait is `initial_s * factor ** (n - 1)`, at most `maximum_s`, plus jitter.
    """

    attempts: Annotated[Answer[int], "attempts for one delivery, the first one included", COUNT]
    initial_s: Annotated[Answer[float], "wait before the second attempt, in seconds", AMOUNT]
    factor: Annotated[Answer[float], "growth of the wait from attempt to attempt", COUNT]
    maximum_s: Annotated[Answer[float], "longest wait, in seconds", AMOUNT]
    jitter: Annotated[float, "largest random share by which a wait is lengthened", Range(0, 1)]
    success: Annotated[Answer[SuccessStatus], "answers that count as delivered"]
    redirect: Annotated[Answer[RedirectOutcome], "how an answer that redirects counts"]
    retry_after: Annotated[Answer[RetryAfter], "what happens to a Retry-After header"]
    retry_after_maximum_s: Annotated[
        float, "longest Retry-After that is waited for, in seconds", AMOUNT
    ]
    deactivate_after: Annotated[
        Answer[int], "exhausted deliveries in a row that disable an endpoint; 0: never", AMOUNT
    ]
    final_status: Annotated[
        Answer[FinalStatus], "answers after which a delivery is not attempted again"
    ] = NOT_ASKED

    def ends_delivery(self, status: int) -> frozenset[bool]:
        """Whether an attempt with this answer is the last one: both if the answers allow both.

        Only a 4xx says that the request itself is wrong, so nothing else ends a delivery.
        """
        if not self.final_status.decided:
            return frozenset({False, status // 100 == CLIENT_ERROR})
        return frozenset(final.includes(status) for final in self.final_status.allowed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """Sections 1, 4.8 and 6: which deliveries arrive, and where."""

    reach: Annotated[Answer[Reach], "endpoints that a broadcast reaches"]
    disabled_receives: Annotated[
        Answer[bool], "whether an endpoint created with is_disabled receives"
    ]
    visible_within_s: Annotated[
        float, "time after which a new endpoint receives broadcasts, in seconds", AMOUNT
    ]
    creation_visit: Annotated[Answer[CreationVisit], "request that tests a new endpoint's URL"]
    failed_visit: Annotated[
        Answer[Acceptance], "whether an endpoint is created whose URL answers no visit with a 2xx"
    ] = NOT_ASKED
    event_id_header: Annotated[
        str | None,
        "delivery header with the event's identifier, the same at each attempt; null: none",
        HEADER,
    ]
    attempt_header: Annotated[
        str | None, "delivery header with the attempt's number; null: none", HEADER
    ]
    first_attempt: Annotated[Answer[int], "number of the first attempt", AMOUNT]
    event_type_header: Annotated[
        str | None, "delivery header with the event_type; null: none", HEADER
    ]
    reserved_headers: Annotated[
        Answer[OnInput], "what happens to a custom header that the service itself sets"
    ]
    further_reserved_headers: Annotated[
        tuple[str, ...],
        "further custom headers that are treated as those that the service itself sets",
        HEADER,
    ] = ()
    form_body: Annotated[Answer[FormEncoding], "body for an endpoint with the form content type"]
    default_timeout_s: Annotated[
        Answer[int], "http_timeout when it is not given, in seconds", COUNT
    ]
    zero_http_timeout: Annotated[Answer[ZeroTimeout], "what an http_timeout of 0 means"] = NOT_ASKED
    rate_limit_unit: Annotated[TimeUnit, "unit of rate_limit_duration"]
    default_rate_limit_duration: Annotated[
        Answer[int],
        "rate_limit_duration when it is not given, in its unit; 0: there is no limit then",
        AMOUNT,
    ]
    zero_rate_limit: Annotated[Answer[ZeroLimit], "what a rate_limit of 0 means"]
    excess: Annotated[Answer[Excess], "what happens to deliveries above the rate limit"]
    notify_on: Annotated[Answer[Notify], "condition for notifications by e-mail and chat"]
    both_contacts: Annotated[
        Answer[BothContacts],
        "who is notified where there are an e-mail address and a chat channel",
    ] = NOT_ASKED
    own_events: Annotated[
        Answer[bool], "whether the service sends webhooks about its own resources"
    ]
    token_scheme: Annotated[
        Answer[TokenScheme], "scheme before an OAuth 2 token in the Authorization header"
    ] = NOT_ASKED
