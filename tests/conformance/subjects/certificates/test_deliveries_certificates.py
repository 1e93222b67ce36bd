from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.certificates.evidence import (
    CERTIFICATES,
    NO_TLS,
    TRUSTED,
    WITH_OAUTH2,
    FaultyCertificates,
    WithoutTls,
)
from tests.conformance.canned_deliveries import destination, event, observed, sent
from tests.conformance.canned_evidence import delivery, exchange, judgements, verdict

EVENT = event("event")
TRYING_ALL = dict.fromkeys(CERTIFICATES, 1)
NONE_TRIED = dict.fromkeys(CERTIFICATES, 0)


def endpoints(
    *arrived_at: str, handshakes: Mapping[str, int] = TRYING_ALL, refused: Iterable[str] = ()
) -> FaultyCertificates:
    """The event arrived at these; some creations were refused."""
    left_out = set(refused)
    made = [destination(name) for name in (TRUSTED, *CERTIFICATES) if name not in left_out]
    observation = observed(
        FaultyCertificates,
        made,
        *(sent(EVENT, where) for where in made if where.name in arrived_at),
        events=[EVENT],
        handshakes=handshakes,
    )
    refusals = [exchange(name, status=400) for name in left_out]
    return replace(observation, exchanges=(*observation.exchanges, *refusals))


def messages(observation: FaultyCertificates) -> list[str]:
    return [judgement.message for judgement in judgements("6-21", observation)]


def test_faulty_certificates_that_were_tried_and_not_accepted_pass() -> None:
    assert verdict("6-21", endpoints(TRUSTED)) is Verdict.PASS


@pytest.mark.parametrize("name", CERTIFICATES)
def test_a_faulty_certificate_that_is_accepted_fails(name: str) -> None:
    assert verdict("6-21", endpoints(TRUSTED, name)) is Verdict.FAIL


def test_a_service_that_verifies_nothing_has_one_finding() -> None:
    assert messages(endpoints(TRUSTED, *CERTIFICATES)) == [
        "The service verifies no certificate of an endpoint"
    ]


def test_an_endpoint_that_was_visited_and_refused_passes() -> None:
    refused = endpoints(TRUSTED, refused=CERTIFICATES)
    assert verdict("6-21", refused) is Verdict.PASS


@pytest.mark.parametrize("refused", [(), tuple(CERTIFICATES)])
def test_a_listener_that_was_never_tried_proves_nothing(refused: tuple[str, ...]) -> None:
    unreached = endpoints(TRUSTED, handshakes=NONE_TRIED, refused=refused)
    with pytest.raises(NotExaminedError, match=r"tried no TLS connection.*expired"):
        verdict("6-21", unreached)


def test_one_that_was_not_tried_hides_no_other_that_was_accepted() -> None:
    partly = endpoints(TRUSTED, "expired", handshakes={**TRYING_ALL, "wrong_host": 0})
    said = judgements("6-21", partly)
    assert next(iter(said)).verdict is Verdict.FAIL
    with pytest.raises(NotExaminedError, match="wrong_host"):
        list(said)


def test_without_a_delivery_over_a_trusted_certificate_silence_proves_nothing() -> None:
    with pytest.raises(NotExaminedError, match="did not arrive over a trusted certificate"):
        verdict("6-21", endpoints())


def token_urls(
    *asked_at: str, handshakes: Mapping[str, int] = TRYING_ALL, names: Iterable[str] = CERTIFICATES
) -> FaultyCertificates:
    """Token URLs with a trusted certificate and faulty ones; a token was requested at some.

    Deliveries were tried at all faulty certificates.
    """
    servers = {name: f"token server {name}" for name in (TRUSTED, *names)}
    return observed(
        FaultyCertificates,
        [destination(WITH_OAUTH2.format(name)) for name in servers],
        *(delivery(servers[name]) for name in asked_at),
        events=[EVENT],
        handshakes=TRYING_ALL,
        token_servers=servers,
        token_handshakes=handshakes,
    )


def test_a_token_that_is_requested_over_a_trusted_certificate_alone_passes() -> None:
    assert verdict("6-27", token_urls(TRUSTED)) is Verdict.PASS


@pytest.mark.parametrize("name", CERTIFICATES)
def test_a_token_that_is_requested_over_a_faulty_certificate_fails(name: str) -> None:
    assert verdict("6-27", token_urls(TRUSTED, name)) is Verdict.FAIL
    assert verdict("6-27", token_urls(name)) is Verdict.FAIL


def test_a_token_url_that_was_never_tried_proves_nothing_although_a_delivery_was() -> None:
    with pytest.raises(NotExaminedError, match=r"tried no TLS connection.*token URLs.*expired"):
        verdict("6-27", token_urls(TRUSTED, handshakes=NONE_TRIED))


def test_one_token_url_that_was_not_tried_hides_no_other() -> None:
    partly = token_urls(TRUSTED, "expired", handshakes={**TRYING_ALL, "wrong_host": 0})
    said = judgements("6-27", partly)
    assert next(iter(said)).verdict is Verdict.FAIL
    with pytest.raises(NotExaminedError, match="wrong_host"):
        list(said)


def test_token_urls_that_were_not_accepted_prove_nothing() -> None:
    assert verdict("6-27", token_urls(TRUSTED, names=())) is None


@pytest.mark.parametrize("servers", [{}, {TRUSTED: "token server"}])
def test_without_a_request_over_a_trusted_certificate_silence_proves_nothing(
    servers: Mapping[str, str],
) -> None:
    silent = replace(endpoints(TRUSTED), token_servers=servers)
    with pytest.raises(NotExaminedError, match="no access token was requested"):
        verdict("6-27", silent)


def without_tls(
    *arrived_at: str, connections: int = 1, refused: bool = False, **further: Any
) -> WithoutTls:
    """The event arrived at these; the endpoint without TLS may have been refused."""
    made = [destination(name) for name in (TRUSTED, NO_TLS) if not (refused and name == NO_TLS)]
    observation = observed(
        WithoutTls,
        made,
        *(sent(EVENT, where) for where in made if where.name in arrived_at),
        events=[EVENT],
        connections=connections,
        **further,
    )
    refusals = [exchange(NO_TLS, status=400)] if refused else []
    return replace(observation, exchanges=(*observation.exchanges, *refusals))


def test_an_https_url_that_is_requested_over_plain_http_fails() -> None:
    for arrived_at in ((TRUSTED, NO_TLS), (NO_TLS,)):
        assert verdict("6-28", without_tls(*arrived_at)) is Verdict.FAIL


def test_a_service_that_speaks_tls_or_nothing_passes() -> None:
    assert verdict("6-28", without_tls(TRUSTED)) is Verdict.PASS
    assert verdict("6-28", without_tls(refused=True)) is Verdict.PASS


def test_what_was_not_tried_or_arrives_nowhere_shows_nothing_of_plain_http() -> None:
    with pytest.raises(NotExaminedError, match="made no connection"):
        verdict("6-28", without_tls(TRUSTED, connections=0))
    with pytest.raises(NotExaminedError, match="did not arrive over a trusted certificate"):
        verdict("6-28", without_tls())


@pytest.mark.parametrize(("tries", "expected"), [(1, Verdict.FAIL), (2, Verdict.PASS)])
def test_a_delivery_whose_handshake_failed_is_attempted_again(
    tries: int, expected: Verdict
) -> None:
    observed = without_tls(TRUSTED, tries=tries, is_tried_again=True)
    assert verdict("1-17", observed) is expected


@pytest.mark.parametrize("seen", [{"tries": 1}, {"tries": 0, "is_tried_again": True}])
def test_without_a_failed_handshake_or_a_schedule_nothing_shows_another_attempt(
    seen: dict[str, Any],
) -> None:
    assert verdict("1-17", without_tls(TRUSTED, **seen)) is None


def test_a_late_machine_accuses_nobody_of_a_single_attempt() -> None:
    late = without_tls(TRUSTED, tries=1, is_tried_again=True, late_s=5.0)
    with pytest.raises(NotExaminedError, match="late"):
        verdict("1-17", late)
