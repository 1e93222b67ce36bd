"""Deliveries over real TLS connections: what arrives and what is stored (sections 4.8, 6 and 8)."""

import asyncio
import hashlib
import hmac
import time
from collections.abc import Sequence

import pytest

from hookproof.mockserver.delivery.store_port import DeliveryState, Failure, SigningSecret
from tests.mockserver.delivery.endpoints import (
    EndpointRequest,
    LoopbackAuthority,
    always_ok,
    answering,
    reply,
    serving,
)
from tests.mockserver.delivery.engines import PROMPT, dialect
from tests.mockserver.delivery.memory_store import SECRET, MemoryStore, settings
from tests.mockserver.delivery.scenario import running, running_with_endpoint


async def test_the_body_arrives_byte_for_byte_and_is_what_was_signed(
    authority: LoopbackAuthority,
) -> None:
    raw = b'{"z": 1.0, "a":1e5, "n":123456789012345678901234567890, "u":"\\u00e9\xf0\x9f\x98\x80" }'

    async with running_with_endpoint(authority) as (store, endpoint):
        store.accept("e", raw)
        await store.until_final()
        [request] = endpoint.arrived
        assert (request.method, request.target, request.body) == ("POST", "/e", raw)
        expected = hmac.new(SECRET.encode(), raw, hashlib.sha256).hexdigest()
        assert request.header("X-Webhook-Signature") == expected
        assert request.header("Content-Type") == "application/json"


async def test_a_form_endpoint_gets_a_signed_form(authority: LoopbackAuthority) -> None:
    async with running_with_endpoint(authority) as (store, endpoint):
        form = "application/x-www-form-urlencoded"
        store.endpoints["e"] = settings("e", f"{endpoint.url}/e", content_type=form)
        store.accept("e", b'{"a": 1.50, "b": "x y"}')
        await store.until_final()
        [request] = endpoint.arrived
        assert request.body == b"a=1.50&b=x+y"
        assert request.header("Content-Type") == form
        expected = hmac.new(SECRET.encode(), request.body, hashlib.sha256).hexdigest()
        assert request.header("X-Webhook-Signature") == expected


async def test_custom_headers_arrive_and_replace_none_of_the_service_s_own(
    authority: LoopbackAuthority,
) -> None:
    custom = {
        "X-Mine": "größe",
        "User-Agent": "mine",
        "host": "elsewhere",
        "Content-Length": "0",
        "content-type": "text/plain",
        "Authorization": "Basic eA==",
        "Transfer-Encoding": "chunked",
        "x-webhook-signature": "forged",
        "X-WEBHOOK-EVENT-ID": "forged",
        "X-Webhook-Attempt": "99",
    }

    async with running_with_endpoint(authority) as (store, endpoint):
        store.accept("e", custom_headers=custom)
        await store.until_final()
        [request] = endpoint.arrived
        names = [name.lower() for name, _ in request.headers]
        assert len(names) == len(set(names))
        assert request.header("X-Mine") == "größe"
        assert request.header("User-Agent") == "mine"
        assert request.header("Host") == endpoint.url.removeprefix("https://")
        assert request.header("Authorization") is None
        assert "forged" not in [value for _, value in request.headers]
        assert request.header("X-Webhook-Attempt") == "1"


async def test_each_attempt_has_the_event_s_id_its_own_number_and_its_own_time(
    authority: LoopbackAuthority,
) -> None:
    now = [1_800_000_000.0]

    def clock() -> float:
        now[0] += 10
        return now[0]

    changes = {"event_type_header": "X-Type", "first_attempt": 0}
    answers = dialect(retry={**PROMPT, "attempts": 3}, delivery=changes)
    async with running_with_endpoint(
        authority, answering(reply(500), reply(500), reply(200)), answers, clock=clock
    ) as (store, endpoint):
        store.endpoints["e"] = settings("e", f"{endpoint.url}/e", advanced_signatures=True)
        delivery = store.accept("e", event_type="order.paid", event_uid="the-event")
        await store.until_final()
        assert store.states[delivery] is DeliveryState.DELIVERED

        def headers(name: str) -> list[str | None]:
            return [request.header(name) for request in endpoint.arrived]

        assert headers("X-Webhook-Event-Id") == ["the-event"] * 3
        assert headers("X-Webhook-Attempt") == ["0", "1", "2"]
        assert headers("X-Type") == ["order.paid"] * 3
        assert len(set(headers("X-Webhook-Signature"))) == 3
        assert [outcome.status for outcome in store.outcomes[delivery]] == [500, 500, 200]
        assert [outcome.number for outcome in store.outcomes[delivery]] == [1, 2, 3]


async def test_no_header_names_the_event_where_the_dialect_has_none(
    authority: LoopbackAuthority,
) -> None:
    async with running_with_endpoint(
        authority, answers=dialect(delivery={"event_id_header": None})
    ) as (store, endpoint):
        store.accept("e", event_uid="the-event")
        await store.until_final()
        assert "the-event" not in [value for _, value in endpoint.arrived[0].headers]


async def test_an_event_type_that_no_header_can_carry_arrives_encoded(
    authority: LoopbackAuthority,
) -> None:
    async with running_with_endpoint(
        authority, answers=dialect(delivery={"event_type_header": "X-Type"})
    ) as (store, endpoint):
        store.accept("e", event_type="a\r\nX-Forged: 1")
        await store.until_final()
        assert endpoint.arrived[0].header("X-Type") == "a%0D%0AX-Forged%3A%201"


@pytest.mark.parametrize(
    ("content_type", "custom"),
    [("a\r\nX-Forged: 1", {}), ("text/plain", {"X-Mine": "a\r\nX-Forged: 1"})],
)
async def test_a_header_that_would_break_the_request_is_never_sent(
    authority: LoopbackAuthority, content_type: str, custom: dict[str, str]
) -> None:
    async with running_with_endpoint(authority) as (store, endpoint):
        store.endpoints["e"] = settings("e", f"{endpoint.url}/e", content_type=content_type)
        delivery = store.accept("e", custom_headers=custom)
        await store.until_final()
        assert endpoint.arrived == []
        assert {outcome.failure for outcome in store.outcomes[delivery]} == {Failure.CONFIGURATION}


async def test_both_secrets_sign_until_the_old_one_expires(authority: LoopbackAuthority) -> None:
    now = [1_800_000_000.0]
    rolled = (
        SigningSecret(value="old", expires_at=1_800_000_060.0),
        SigningSecret(value="new", expires_at=None),
    )

    def expected(secrets: Sequence[str], body: bytes) -> str:
        seconds = int(now[0])
        digests = [
            hmac.new(s.encode(), b"%d,%s" % (seconds, body), hashlib.sha256).hexdigest()
            for s in secrets
        ]
        return f"t={seconds}," + ",".join(f"v1={digest}" for digest in digests)

    async with running_with_endpoint(authority, clock=lambda: now[0]) as (store, endpoint):
        store.endpoints["e"] = settings(
            "e", f"{endpoint.url}/e", advanced_signatures=True, secrets=rolled
        )
        for elapsed_s, signing in ((59.999, ["old", "new"]), (60.0, ["new"])):
            now[0] = 1_800_000_000.0 + elapsed_s
            store.accept("e")
            await store.until_final()
            request = endpoint.arrived[-1]
            assert request.header("X-Webhook-Signature") == expected(signing, request.body)


async def test_a_secret_rolled_between_two_attempts_signs_the_second(
    authority: LoopbackAuthority,
) -> None:
    store = MemoryStore()
    new_secret = SigningSecret(value="new", expires_at=None)
    statuses = iter((500, 200))

    async def roll_then_answer(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
        url = store.endpoints["e"].url
        store.endpoints["e"] = settings("e", url, secrets=(new_secret,))
        writer.write(reply(next(statuses)))

    async with running_with_endpoint(authority, roll_then_answer, store=store) as (store, endpoint):
        store.accept("e", b"{}")
        await store.until_final()
        new = hmac.new(b"new", b"{}", hashlib.sha256).hexdigest()
        old = hmac.new(SECRET.encode(), b"{}", hashlib.sha256).hexdigest()
        signatures = [request.header("X-Webhook-Signature") for request in endpoint.arrived]
        assert signatures == [old, new]


@pytest.mark.parametrize("dialect_name", ["contrary", "standard-webhooks"])
async def test_the_headers_are_those_of_the_dialect(
    authority: LoopbackAuthority, dialect_name: str
) -> None:
    answers = dialect(dialect_name)
    secrets = answers.signatures.secret
    secret = SigningSecret(
        value=f"{secrets.prefix}c2VjcmV0IG9mIHRoZSBlbmRwb2ludA==", expires_at=None
    )

    async with running_with_endpoint(authority, answers=answers) as (store, endpoint):
        store.endpoints["e"] = settings(
            "e", f"{endpoint.url}/e", secrets=(secret,), advanced_signatures=True
        )
        store.accept("e", event_uid="the-event")
        await store.until_final()
        [request] = endpoint.arrived
        assert request.header(answers.delivery.event_id_header) == "the-event"
        assert request.header(answers.signatures.advanced.header)
        timestamp = answers.signatures.advanced.timestamp_header
        assert timestamp is not None
        unit = answers.signatures.advanced.timestamp_unit.in_seconds
        assert abs(int(request.header(timestamp) or "0") * unit - time.time()) < 60


async def test_an_attempt_without_a_connection_is_retried(
    authority: LoopbackAuthority,
) -> None:
    requests = 0

    async def break_connection_once(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        requests += 1
        if requests == 1:
            writer.transport.abort()
        else:
            writer.write(reply(200))

    async with running_with_endpoint(
        authority, break_connection_once, dialect(retry={**PROMPT, "attempts": 2})
    ) as (store, _):
        store.endpoints["closed"] = settings("closed", "https://127.0.0.1:1/")
        broken, closed = store.accept("e"), store.accept("closed")
        await store.until_final()
        assert [outcome.failure for outcome in store.outcomes[broken]] == [Failure.CONNECTION, None]
        assert [outcome.failure for outcome in store.outcomes[closed]] == [Failure.CONNECTION] * 2
        states = [store.states[delivery] for delivery in (broken, closed)]
        assert states == [DeliveryState.DELIVERED, DeliveryState.EXHAUSTED]


async def test_a_delivery_is_exhausted_after_the_last_attempt(authority: LoopbackAuthority) -> None:
    async with running_with_endpoint(
        authority, answering(reply(503)), dialect(retry={**PROMPT, "attempts": 4})
    ) as (store, endpoint):
        delivery = store.accept("e")
        await store.until_final()
        assert store.states[delivery] is DeliveryState.EXHAUSTED
        assert len(endpoint.arrived) == 4


async def test_a_retry_waits_for_retry_after(authority: LoopbackAuthority) -> None:
    async with running_with_endpoint(
        authority, answering(reply(429, "Retry-After: 1"), reply(200))
    ) as (store, endpoint):
        store.accept("e")
        await store.until_final()
        first, second = endpoint.arrived
        assert second.at - first.at >= 1


async def test_a_redirect_is_an_answer_and_is_never_followed(authority: LoopbackAuthority) -> None:
    redirect = reply(307, "Location: /elsewhere")
    async with running_with_endpoint(
        authority, answering(redirect), dialect(retry={**PROMPT, "attempts": 2})
    ) as (store, endpoint):
        delivery = store.accept("e")
        await store.until_final()
        assert store.states[delivery] is DeliveryState.EXHAUSTED
        assert {request.target for request in endpoint.arrived} == {"/e"}


async def test_an_endpoint_is_deactivated_after_as_many_exhausted_deliveries_as_the_dialect_says(
    authority: LoopbackAuthority,
) -> None:
    async with running_with_endpoint(
        authority,
        answering(reply(500)),
        dialect(retry={**PROMPT, "attempts": 1, "deactivate_after": 2}),
    ) as (store, endpoint):
        for _ in range(2):
            store.accept("e")
            await store.until_final()
        assert store.deactivated == ["e"]
        arrived = len(endpoint.arrived)
        late = store.accept("e")
        await store.until_final()
        assert store.states[late] is DeliveryState.DISCARDED
        assert len(endpoint.arrived) == arrived


async def test_the_reference_never_deactivates(authority: LoopbackAuthority) -> None:
    async with running_with_endpoint(
        authority, answering(reply(500)), dialect(retry={**PROMPT, "attempts": 1})
    ) as (store, _):
        for _ in range(5):
            store.accept("e")
        await store.until_final()
        assert store.deactivated == []


async def test_a_delivery_to_an_unknown_endpoint_is_discarded(authority: LoopbackAuthority) -> None:
    async with running_with_endpoint(authority) as (store, _):
        delivery = store.accept("nobody")
        await store.until_final()
        assert store.states[delivery] is DeliveryState.DISCARDED


async def test_what_is_due_later_does_not_hold_up_what_is_due_now(
    authority: LoopbackAuthority,
) -> None:
    async with running_with_endpoint(authority) as (store, _):
        later = store.accept("e", due_at=time.time() + 3600)
        now = store.accept("e")
        await store.until_final(now)
        assert store.states[later] is DeliveryState.PENDING


async def test_what_is_due_later_goes_out_when_it_is_due(authority: LoopbackAuthority) -> None:
    async with running_with_endpoint(authority) as (store, _):
        started = time.time()
        later = store.accept("e", due_at=started + 0.3)
        await store.until_final(later)
        assert store.outcomes[later][0].started_at >= started + 0.3


async def test_connections_are_kept_for_the_next_delivery(
    authority: LoopbackAuthority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hookproof.mockserver.delivery.http_client.pool.IDLE_S", 300.0)

    async with running_with_endpoint(authority) as (store, endpoint):
        for _ in range(10):
            store.accept("e")
            await store.until_final()
        assert len(endpoint.arrived) == 10
        assert endpoint.connections == 1


@pytest.mark.parametrize(("status", "method"), [(302, "GET"), (307, "POST")])
async def test_a_redirect_is_followed_where_the_dialect_says_so(
    authority: LoopbackAuthority, status: int, method: str
) -> None:
    redirect = reply(status, "Location: /elsewhere")
    answers = dialect(retry={**PROMPT, "redirect": "followed"})
    async with running(authority, answering(redirect, reply(200)), answers) as (store, endpoint):
        store.endpoints["e"] = settings("e", f"{endpoint.url}/e")
        delivery = store.accept("e")
        await store.until_final()
        assert store.states[delivery] is DeliveryState.DELIVERED
        first, second = endpoint.arrived
        assert (second.target, second.method) == ("/elsewhere", method)
        assert second.body == (first.body if method == "POST" else b"")


async def test_credentials_stay_with_the_endpoint_when_it_redirects_elsewhere(
    authority: LoopbackAuthority,
) -> None:
    key = {"type": "api_key", "api_key": {"header_name": "X-Key", "header_value": "k-1"}}
    async with serving(always_ok, authority.context()) as other:
        redirects = answering(reply(307, "Location: /here"), reply(307, f"Location: {other.url}/"))
        answers = dialect(retry={**PROMPT, "redirect": "followed"})
        async with running(authority, redirects, answers) as (store, endpoint):
            store.endpoints["e"] = settings("e", f"{endpoint.url}/e", authentication=key)
            store.accept("e", b"{}", custom_headers={"X-Own": "1"})
            await store.until_final()
            assert [each.header("X-Key") for each in endpoint.arrived] == ["k-1", "k-1"]
            [elsewhere] = other.arrived
            assert (elsewhere.header("X-Key"), elsewhere.header("X-Own")) == (None, "1")


@pytest.mark.parametrize("location", ["/e", "http://127.0.0.1:9/", "", "https://["])
async def test_a_redirect_that_leads_nowhere_is_a_failure(
    authority: LoopbackAuthority, location: str
) -> None:
    redirect = reply(302, f"Location: {location}")
    answers = dialect(retry={**PROMPT, "attempts": 1, "redirect": "followed"})
    async with running(authority, answering(redirect), answers) as (store, endpoint):
        store.endpoints["e"] = settings("e", f"{endpoint.url}/e")
        delivery = store.accept("e")
        await store.until_final()
        assert store.states[delivery] is DeliveryState.EXHAUSTED
        assert len(endpoint.arrived) <= 6
