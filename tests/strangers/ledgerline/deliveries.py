"""Deliveries: one task each, until an answer ends it or the attempts are used up."""

import asyncio
import base64
import hashlib
import hmac
import json
import os
import ssl
import tempfile
import time
from collections.abc import Coroutine
from datetime import datetime
from urllib.parse import urlencode

import aiohttp

from tests.strangers.ledgerline.bugs import bug
from tests.strangers.ledgerline.records import Endpoint, Event, now
from tests.strangers.ledgerline.schemas import OAuth2

WAITS = (1.0, 2.0, 4.0)
LONGEST_ANSWER = 64 * 1024

# Seconds of processor time that the frameworks of such a service spend beside the work itself.
OVERHEAD = float(os.environ.get("COST_MS", "2")) / 1000


def spend() -> None:
    until = time.thread_time() + OVERHEAD
    while time.thread_time() < until:
        pass


class Engine:
    def __init__(self, ca: str | None) -> None:
        self._ca = ca
        self._trusting = self._context()
        self._certificates: dict[str, ssl.SSLContext] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._caches: dict[str, tuple[float, list[str]]] = {}
        self.session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0), auto_decompress=False
        )

    def _context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self._ca)

    def start(self, event: Event, endpoints: list[Endpoint]) -> None:
        if bug("one_after_the_other"):
            self._begin(self._deliver_in_turn(event, endpoints))
        else:
            for endpoint in endpoints:
                self._begin(self._deliver(event, endpoint))

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _deliver_in_turn(self, event: Event, endpoints: list[Endpoint]) -> None:
        for endpoint in endpoints:
            status = await self._attempt(event, endpoint, 1)
            if not 200 <= status < 300:
                return

    async def _deliver(self, event: Event, endpoint: Endpoint) -> None:
        attempt = 0
        while True:
            attempt += 1
            await self._wait_for_room(endpoint)
            status = await self._attempt(event, endpoint, attempt)
            if 200 <= status < 300:
                endpoint.succeeded += 1
                return
            if status == 410 or (bug("refused_connection_is_final") and status == 0):
                break
            if attempt > len(WAITS) and not bug("retries_without_end"):
                break
            await asyncio.sleep(WAITS[min(attempt, len(WAITS)) - 1])
        endpoint.exhausted += 1
        await self._notify(endpoint)

    async def _wait_for_room(self, endpoint: Endpoint) -> None:
        """Wait until the endpoint got less than its limit in the time that ends now."""
        limit = endpoint.sent.rate_limit
        if not limit:
            return
        while True:
            at = time.monotonic()
            while endpoint.sending and endpoint.sending[0] <= at - endpoint.window:
                endpoint.sending.popleft()
            if len(endpoint.sending) < limit:
                if bug("limit_read_before_it_is_counted"):
                    await asyncio.sleep(0.05)
                endpoint.sending.append(time.monotonic())
                return
            await asyncio.sleep(endpoint.sending[0] + endpoint.window - at + 0.001)

    async def _attempt(self, event: Event, endpoint: Endpoint, attempt: int) -> int:
        """Send it once, and return the status of the answer, or 0."""
        spend()
        total = 10 if bug("timeout_ignored") else endpoint.timeout
        timeout = aiohttp.ClientTimeout(total=total)
        if bug("timeout_until_headers"):
            timeout = aiohttp.ClientTimeout(total=None, sock_read=total)
        try:
            headers = await self._headers(event, endpoint, attempt)
            body = self._body(event, endpoint)
            async with self.session.post(
                endpoint.sent.url,
                data=body.encode(),
                headers=headers,
                timeout=timeout,
                allow_redirects=bug("redirects_followed"),
                ssl=self._tls(endpoint),
            ) as answer:
                received = 0
                while received < LONGEST_ANSWER or bug("timeout_until_headers"):
                    part = await answer.content.readany()
                    if not part:
                        break
                    received += len(part)
                else:
                    answer.close()
                return answer.status
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError):
            return 0

    def _body(self, event: Event, endpoint: Endpoint) -> str:
        if endpoint.sent.content_type == "application/x-www-form-urlencoded":
            members = json.loads(event.payload)
            return urlencode(
                {
                    name: value if isinstance(value, str) else json.dumps(value)
                    for name, value in members.items()
                }
            )
        if bug("sent_spaced_signed_compact"):
            return json.dumps(json.loads(event.payload))
        return event.payload

    async def _headers(self, event: Event, endpoint: Endpoint, attempt: int) -> dict[str, str]:
        body = self._body(event, endpoint)
        signed = event.payload if bug("sent_spaced_signed_compact") else body
        headers = {
            "Content-Type": endpoint.sent.content_type or "application/json",
            "User-Agent": "Ledgerline/2",
            "Ledgerline-Event-Id": event.uid,
            "Ledgerline-Event-Type": event.event_type,
            "Ledgerline-Attempt": str(attempt),
        }
        if bug("new_event_id_per_attempt") and attempt > 1:
            headers["Ledgerline-Event-Id"] = f"{event.uid}{attempt}"
        headers.update(await self._credentials(endpoint))
        if not (bug("unsigned_retries") and attempt > 1):
            headers.update(self._signature(endpoint, signed))
        if bug("signature_overridden"):
            own = {name.lower(): name for name in headers}
            for name in event.headers or {}:
                headers.pop(own.get(name.lower(), ""), None)
        return {**(event.headers or {}), **headers}

    def _signature(self, endpoint: Endpoint, body: str) -> dict[str, str]:
        at = now()
        values = self._signing(endpoint, at)
        if not endpoint.sent.advanced_signatures:
            value = values[-1] if bug("simple_signed_with_the_oldest") else values[0]
            digest = hmac.digest(value.encode(), body.encode(), hashlib.sha256)
            return {"Ledgerline-Hmac": base64.b64encode(digest).decode()}
        seconds = int(at.timestamp()) + (3600 if bug("clock_of_a_time_zone") else 0)
        text = f"{seconds}:{body}".encode()
        digests = [hmac.new(value.encode(), text, hashlib.sha256).hexdigest() for value in values]
        items = [f"ts={seconds}", *(f"h1={digest}" for digest in digests)]
        return {"Ledgerline-Signature": ";".join(items)}

    def _signing(self, endpoint: Endpoint, at: datetime) -> list[str]:
        """Return the values of the secrets that sign now, the newest first."""
        values = [secret.value for secret in reversed(endpoint.secrets) if secret.lives(at)]
        if bug("secret_cut_in_its_column"):
            values = [value[:20] for value in values]
        if bug("secrets_cached"):
            kept, cached = self._caches.get(endpoint.uid, (0.0, []))
            if time.monotonic() - kept < 30:
                return cached
            self._caches[endpoint.uid] = (time.monotonic(), values)
        return values

    async def _credentials(self, endpoint: Endpoint) -> dict[str, str]:
        authentication = endpoint.sent.authentication
        if authentication is None:
            return {}
        if authentication.type == "api_key" and authentication.api_key:
            return {authentication.api_key.header_name: authentication.api_key.header_value}
        if authentication.type == "basic_auth" and authentication.basic_auth:
            basic = authentication.basic_auth
            pair = f"{basic.username}:{basic.password.get_secret_value()}"
            return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
        assert authentication.oauth2 is not None
        return {"Authorization": await self._token(endpoint, authentication.oauth2)}

    async def _token(self, endpoint: Endpoint, oauth2: OAuth2) -> str:
        if endpoint.token and time.monotonic() < endpoint.token[1]:
            return endpoint.token[0]
        form = {
            "grant_type": oauth2.grant_type or "client_credentials",
            "client_id": oauth2.client_id,
            "client_secret": oauth2.client_secret.get_secret_value(),
            "scope": oauth2.scope,
            "audience": oauth2.audience,
        }
        async with self.session.post(
            oauth2.url,
            data={name: value for name, value in form.items() if value},
            timeout=aiohttp.ClientTimeout(total=endpoint.timeout),
            allow_redirects=False,
            ssl=self._tls(endpoint),
        ) as answer:
            members = json.loads(await answer.content.read(LONGEST_ANSWER))
        names = oauth2.field_mapping
        token = members.get((names and names.access_token) or "access_token")
        kind = members.get((names and names.token_type) or "token_type") or "Bearer"
        lifetime = members.get((names and names.expires_in) or "expires_in") or 0
        if not isinstance(token, str) or answer.status != 200:
            raise ValueError("no token in the answer")
        if oauth2.expiry_time_unit == "milliseconds":
            lifetime /= 1000
        endpoint.token = (f"{kind} {token}", time.monotonic() + float(lifetime))
        return endpoint.token[0]

    def _tls(self, endpoint: Endpoint) -> ssl.SSLContext:
        pair = endpoint.sent.mtls_client_cert
        if pair is None:
            return self._trusting
        if endpoint.uid not in self._certificates:
            self._certificates[endpoint.uid] = self.with_certificate(
                pair.client_cert, pair.client_key.get_secret_value()
            )
        return self._certificates[endpoint.uid]

    def with_certificate(self, certificate: str, key: str) -> ssl.SSLContext:
        context = self._context()
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
            file.write(f"{certificate}\n{key}\n")
            file.flush()
            context.load_cert_chain(file.name, password="")
        return context

    async def _notify(self, endpoint: Endpoint) -> None:
        if endpoint.sent.slack_webhook_url:
            text = f"Deliveries to {endpoint.sent.name} ({endpoint.uid}) fail"
            try:
                async with self.session.post(
                    endpoint.sent.slack_webhook_url,
                    json={"text": text},
                    timeout=aiohttp.ClientTimeout(total=10),
                    allow_redirects=False,
                    ssl=self._trusting,
                ):
                    pass
            except (aiohttp.ClientError, TimeoutError, OSError):
                pass
