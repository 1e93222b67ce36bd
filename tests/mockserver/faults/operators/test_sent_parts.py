"""Which part of which attempt is altered, and that all the other attempts are right."""

import asyncio
import base64
import hmac
import json
from collections.abc import Callable
from typing import Any, Final

import pytest

from hookproof.mockserver.faults.operators.delivery_places import OCCASIONS
from hookproof.mockserver.faults.operators.generation import find_generated_fault
from hookproof.spec.dialect.reader import load_dialect
from tests.mockserver.delivery.endpoints import (
    OK,
    EndpointRequest,
    LoopbackAuthority,
    Responder,
    answering,
    never_answers,
    reply,
)
from tests.mockserver.faults.operators.delivery_scenario import (
    FAILS,
    TELLING,
    ScenarioContext,
    fails_after_the_first,
    generated,
    run_scenario,
)

SECRET: Final = "whsec_" + base64.b64encode(b"a secret of the endpoint").decode()
ATTEMPTS: Final = 5
WORDS: Final = TELLING.words
AUTHENTICATIONS: Final = {
    "api_key": {
        "type": WORDS.auth_api_key,
        "api_key": {"header_name": "X-Key", "header_value": "a key"},
    },
    "basic_auth": {
        "type": WORDS.auth_basic,
        "basic_auth": {"username": "name", "password": "word"},
    },
}
BASIC: Final = "Basic " + base64.b64encode(b"name:word").decode()
# The altered attempts of the second event, from 0, by occasion.
ALTERED: Final = {"second": {1}, "third": {2}, "last": {4}, "later": {1, 2, 3, 4}}

# What a request shows of a part.
Shown = Callable[[EndpointRequest], Any]


def header(name: str) -> Shown:
    return lambda request: request.header(name)


SHOWN: Final[dict[str, Shown]] = {
    "body": lambda request: request.body or None,
    "event_id": header("webhook-id"),
    "attempt_number": header("X-Webhook-Attempt"),
    "event_type": header("X-Event-Type"),
    "content_type": header("Content-Type"),
    "signature": header("webhook-signature"),
    "timestamp": header("webhook-timestamp"),
    "custom_headers": header("X-Custom"),
    "api_key": header("X-Key"),
    "basic_auth": header("Authorization"),
}
OF_EVENTS: Final = ("body", "event_id", "event_type", "custom_headers")


def right_values(part: str, first: Any, second: Any) -> list[Any]:
    """What the attempt at the first event and those at the second one show, without a fault."""
    fixed = {"content_type": "application/json", "api_key": "a key", "basic_auth": BASIC}
    if part in fixed:
        return [fixed[part]] * (ATTEMPTS + 1)
    if part == "attempt_number":
        return ["1", *map(str, range(1, ATTEMPTS + 1))]
    of_event = {
        "body": lambda event: bytes(event["data"]),
        "event_id": lambda event: event["uid"],
        "event_type": lambda event: event["event_type"],
        "custom_headers": lambda event: event["headers"]["X-Custom"],
    }[part]
    return [of_event(first), *[of_event(second)] * ATTEMPTS]


def two_events(
    authority: LoopbackAuthority, name: str, part: str, *, rolled: bool = False
) -> tuple[list[EndpointRequest], Any, Any]:
    """One event that is delivered at once, and one that fails; with a roll before the second."""
    events = []

    async def scenario(context: ScenarioContext) -> None:
        more = {"authentication": AUTHENTICATIONS[part]} if part in AUTHENTICATIONS else {}
        await context.create("/", secret=SECRET, advanced_signatures=True, **more)
        events.append(await context.broadcast("first"))
        await context.endpoint.wait_for_requests(1)
        if rolled:
            await context.roll(secret=SECRET)
        events.append(await context.broadcast("second"))
        await context.endpoint.wait_for_requests(1 + ATTEMPTS)

    faults = [fault for one in name.split(" + ") for fault in generated(one)]
    arrived = run_scenario(authority, scenario, *faults, responder=fails_after_the_first())
    return arrived, *events


def tries() -> list[tuple[str, str, str]]:
    """Each alteration of each part on one occasion, and of the body on all."""
    found = []
    for part in SHOWN:
        for how in ("changed", "missing", "stale"):
            is_fixed = part in ("content_type", *AUTHENTICATIONS)
            if part not in ("signature", "timestamp") and not (how == "stale" and is_fixed):
                found.append((part, how, "third"))
    found += [("body", "changed", occasion) for occasion in OCCASIONS if occasion != "third"]
    return found


@pytest.mark.parametrize(("part", "how", "occasion"), tries())
def test_a_part_is_altered_on_these_attempts_and_right_on_the_others(
    authority: LoopbackAuthority, part: str, how: str, occasion: str
) -> None:
    name = f"part_{how}@delivery.sent.{part}.{occasion}"
    arrived, first, second = two_events(authority, name, part, rolled=occasion == "rolled")
    shown = [SHOWN[part](request) for request in arrived]
    right = right_values(part, first, second)
    altered = {1 + number for number in ALTERED.get(occasion, set(range(ATTEMPTS)))}
    assert {at for at in range(1 + ATTEMPTS) if shown[at] != right[at]} == altered
    for at in altered:
        before = right[0] if part in OF_EVENTS else right[at - 1]
        assert (shown[at] is None) is (how == "missing")
        assert (shown[at] == before) is (how == "stale")
    assert all(map(is_signed, arrived)) is ((part, how) != ("event_id", "missing"))


def is_signed(request: EndpointRequest) -> bool:
    """Whether the signature is that of what the request shows."""
    uid, time, shown = (
        request.header(f"webhook-{name}") for name in ("id", "timestamp", "signature")
    )
    if uid is None or time is None or shown is None:
        return False
    text = f"{uid}.{time}.".encode() + request.body
    digest = hmac.digest(b"a secret of the endpoint", text, "sha256")
    return f"v1,{base64.b64encode(digest).decode()}" in shown.split()


def signed_time(request: EndpointRequest) -> int:
    return int(request.header("webhook-timestamp") or 0)


@pytest.mark.parametrize("how", ["changed", "missing", "stale"])
def test_a_signature_is_altered(authority: LoopbackAuthority, how: str) -> None:
    arrived, *_ = two_events(authority, f"part_{how}@delivery.sent.signature.third", "signature")
    assert [is_signed(request) for request in arrived] == [at != 3 for at in range(6)]
    shown = [request.header("webhook-signature") for request in arrived]
    assert (shown[3] is None) is (how == "missing")
    assert (shown[3] == shown[2]) is (how == "stale")


def test_a_time_is_missing(authority: LoopbackAuthority) -> None:
    arrived, *_ = two_events(authority, "part_missing@delivery.sent.timestamp.third", "timestamp")
    assert [request.header("webhook-timestamp") is None for request in arrived] == [
        at == 3 for at in range(6)
    ]


@pytest.mark.parametrize("how", ["changed", "stale"])
def test_another_time_is_signed(authority: LoopbackAuthority, how: str) -> None:
    arrived, *_ = two_events(authority, f"part_{how}@delivery.sent.timestamp.third", "timestamp")
    assert all(map(is_signed, arrived))
    times = [signed_time(request) for request in arrived]
    right = times[:3] + times[4:]
    assert right == sorted(set(right))
    assert (times[3] == times[2]) is (how == "stale")
    far_s = 10 * TELLING.signatures.advanced.tolerance_s
    assert how == "stale" or times[4] - times[3] >= far_s


def issuing_tokens() -> Responder:
    """Issue another token each time, which ends before the next attempt, and fail deliveries."""
    issued = 0

    async def answer(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
        nonlocal issued
        if request.target != "/token":
            writer.write(FAILS)
            return
        issued += 1
        token = {"access_token": f"token-{issued}", "token_type": "bearer", "expires_in": 0}
        body = json.dumps(token).encode()
        writer.write(reply(200, "Content-Type: application/json", body=body))

    return answer


@pytest.mark.parametrize(
    ("how", "third"),
    [("changed", "Bearer token-0"), ("missing", None), ("stale", "Bearer token-2")],
)
def test_an_access_token_is_altered(
    authority: LoopbackAuthority, how: str, third: str | None
) -> None:
    async def scenario(context: ScenarioContext) -> None:
        oauth2 = {"url": f"{context.endpoint.url}/token", "client_id": "me", "client_secret": "s"}
        await context.create("/", authentication={"type": WORDS.auth_oauth2, "oauth2": oauth2})
        await context.broadcast("first")
        await context.endpoint.wait_for_requests(2 * ATTEMPTS)

    faults = generated(f"part_{how}@delivery.sent.oauth2.third")
    arrived = run_scenario(authority, scenario, *faults, responder=issuing_tokens())
    shown = [one.header("Authorization") for one in arrived if one.target == "/"]
    right = [f"Bearer token-{number}" for number in range(1, ATTEMPTS + 1)]
    assert shown == [*right[:2], third, *right[3:]]


def test_a_client_certificate_is_missing(authority: LoopbackAuthority) -> None:
    async def scenario(context: ScenarioContext) -> None:
        leaf = authority.ca.issue_cert("client.invalid")
        certificate = {
            "client_cert": leaf.cert_chain_pems[0].bytes().decode(),
            "client_key": leaf.private_key_pem.bytes().decode(),
        }
        await context.create("/", mtls_client_cert=certificate)
        await context.broadcast("first")
        await context.endpoint.wait_for_requests(ATTEMPTS)

    faults = generated("part_missing@delivery.sent.client_certificate.third")
    arrived = run_scenario(authority, scenario, *faults, responder=answering(FAILS))
    assert [one.client_certificate is None for one in arrived] == [
        number == 2 for number in range(ATTEMPTS)
    ]


@pytest.mark.parametrize(
    ("dialect_name", "name", "reason"),
    [
        ("reference", "part_missing@delivery.sent.event_type.second", "has no header"),
        ("contrary", "part_missing@delivery.sent.body.last", "last attempt is the third"),
        ("contrary", "part_stale@delivery.sent.timestamp.second", "too short to tell"),
        ("contrary", "attempt_without_timeout@delivery.attempt.last", "is the third one"),
    ],
)
def test_what_the_dialect_does_not_tell_is_equivalent(
    dialect_name: str, name: str, reason: str
) -> None:
    found = find_generated_fault(name, load_dialect(dialect_name))
    assert reason in found.defect.equivalent
    assert not found.defect.violates


def test_several_parts_are_altered_at_once(authority: LoopbackAuthority) -> None:
    parts = ("timestamp.second", "timestamp.third", "attempt_number.third", "body.last")
    names = " + ".join(f"part_changed@delivery.sent.{part}" for part in parts)
    arrived, _, second = two_events(authority, names, "body")
    assert all(map(is_signed, arrived))
    times = [signed_time(request) for request in arrived]
    assert times.index(min(times)) in (2, 3)
    assert times[2] < times[4] > times[3]
    assert [SHOWN["attempt_number"](one) for one in arrived] == ["1", "1", "2", "13", "4", "5"]
    right = bytes(second["data"])
    assert [one.body == right for one in arrived] == [False, True, True, True, True, False]


async def fails_at_one(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
    fails = request.target == "/one" and b"second" in request.body
    writer.write(FAILS if fails else OK)


def test_an_attempt_goes_to_another_endpoint(authority: LoopbackAuthority) -> None:
    async def scenario(context: ScenarioContext) -> None:
        await context.create("/one")
        await context.create("/two")
        await context.broadcast("first")
        await context.endpoint.wait_for_requests(2)
        await context.broadcast("second")
        await context.endpoint.wait_for_requests(5)

    fault = generated("attempt_sent_elsewhere@delivery.attempt.second")
    arrived = run_scenario(authority, scenario, *fault, responder=fails_at_one)
    numbers = {
        path: sorted(
            request.header("X-Webhook-Attempt") or ""
            for request in arrived
            if request.target == path and b"second" in request.body
        )
        for path in ("/one", "/two")
    }
    assert numbers == {"/one": ["1"], "/two": ["1", "2"]}


def test_an_attempt_has_no_timeout(authority: LoopbackAuthority) -> None:
    """Each attempt goes to an endpoint that never answers; the second one waits."""

    async def scenario(context: ScenarioContext) -> None:
        await context.create("/", http_timeout=1)
        await context.broadcast("first")
        await context.endpoint.wait_for_requests(2)
        with pytest.raises(TimeoutError):
            await context.endpoint.wait_for_requests(3, timeout_s=2.0)

    fault = generated("attempt_without_timeout@delivery.attempt.second")
    assert len(run_scenario(authority, scenario, *fault, responder=never_answers)) == 2
