"""OAuth 2 client credentials: one token per endpoint, fetched once for all who wait for it (section
2.5).
"""

import asyncio
import json
import random
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from math import inf
from typing import Final
from urllib.parse import urlencode

from hookproof.mockserver.delivery.attempt.client_assertion import AssertionFault, client_assertion
from hookproof.mockserver.delivery.attempt.credentials import CredentialsFault, section, text
from hookproof.mockserver.delivery.attempt.headers import CONTENT_TYPE
from hookproof.mockserver.delivery.http_client.connection import TlsFault
from hookproof.mockserver.delivery.http_client.egress import EgressRefused
from hookproof.mockserver.delivery.http_client.http1 import ConnectionFault, ProtocolFault, Response
from hookproof.mockserver.delivery.http_client.transport import AddressFault, Transport, parse_url
from hookproof.mockserver.delivery.store_port import Clock, EndpointSettings
from hookproof.spec.dialect.model import Words
from hookproof.spec.dialect.vocabulary import TimeUnit

KEPT_TOKENS: Final = 16384
EARLY_S: Final = 30.0
EARLY_SHARE: Final = 0.1
FORM: Final = "application/x-www-form-urlencoded"
# RFC 6749, section 4.4, and RFC 7523, section 2.2
CLIENT_CREDENTIALS: Final = "client_credentials"
JWT_BEARER: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
BEARER: Final = "Bearer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token as it is shown, and until when it is used, in unix seconds."""

    authorization: str
    fresh_until: float


@dataclass(slots=True, kw_only=True)
class Holder:
    """What is known for one endpoint: its settings, its token, and the fetch that is under way."""

    oauth2: Mapping[str, object]
    token: Token | None = None
    fetch: asyncio.Task[Token] | None = None


class OAuth2Tokens:
    """Fetches and keeps tokens; the fetch takes the same guarded way as a delivery."""

    def __init__(
        self, transport: Transport, words: Words, clock: Clock, rng: random.Random
    ) -> None:
        self._rng = rng
        self._transport = transport
        self._words = words
        self._clock = clock
        self._holders: OrderedDict[str, Holder] = OrderedDict()
        self._fetches: set[asyncio.Task[Token]] = set()

    async def authorization(
        self, endpoint: EndpointSettings, oauth2: Mapping[str, object]
    ) -> tuple[str, bool]:
        """The value of the Authorization header, and whether it is kept from before; raises
        CredentialsFault.
        """
        holder = self._holder(endpoint.uid, oauth2)
        if holder.token is not None and self._clock() < holder.token.fresh_until:
            return holder.token.authorization, True
        if holder.fetch is None:
            holder.fetch = asyncio.create_task(self._fetch(holder, endpoint.http_timeout_s))
            self._fetches.add(holder.fetch)
            holder.fetch.add_done_callback(lambda task: self._fetched(holder, task))
        return (await asyncio.shield(holder.fetch)).authorization, False

    def forget(self, endpoint_uid: str, authorization: str) -> None:
        """Fetch a new token next time, unless a newer one has come meanwhile."""
        holder = self._holders.get(endpoint_uid)
        if (
            holder is not None
            and holder.token is not None
            and holder.token.authorization == authorization
        ):
            holder.token = None

    async def close(self) -> None:
        """End the fetches that are under way."""
        for task in tuple(self._fetches):
            task.cancel()
        await asyncio.gather(*self._fetches, return_exceptions=True)

    def _holder(self, endpoint_uid: str, oauth2: Mapping[str, object]) -> Holder:
        holder = self._holders.get(endpoint_uid)
        if holder is None or holder.oauth2 != oauth2:
            holder = self._holders[endpoint_uid] = Holder(oauth2=oauth2)
            if len(self._holders) > KEPT_TOKENS:
                self._holders.popitem(last=False)
        return holder

    def _fetched(self, holder: Holder, task: asyncio.Task[Token]) -> None:
        self._fetches.discard(task)
        holder.fetch = None
        if not task.cancelled() and task.exception() is None:
            holder.token = task.result()

    async def _fetch(self, holder: Holder, timeout_s: float) -> Token:
        oauth2 = holder.oauth2
        try:
            address = parse_url(text(oauth2, "url"))
            body = urlencode(self._form(oauth2)).encode("ascii")
            headers = ((CONTENT_TYPE, FORM), ("Accept", "application/json"))
            response = await self._transport.exchange(
                "POST", address, headers, body, timeout_s=timeout_s
            )
        except (AddressFault, AssertionFault) as fault:
            raise CredentialsFault(f"no token can be asked for: {fault}") from None
        except TimeoutError:
            raise CredentialsFault(f"no token came within {timeout_s:g} s") from None
        except (EgressRefused, TlsFault, ConnectionFault, ProtocolFault) as fault:
            raise CredentialsFault(f"no token came: {fault}") from None
        return self._token(oauth2, response)

    def _form(self, oauth2: Mapping[str, object]) -> dict[str, str]:
        proofs = {
            self._words.oauth2_shared_secret: self._shared_secret,
            self._words.oauth2_assertion: self._assertion,
        }
        kind = text(oauth2, "authentication_type") or self._words.oauth2_shared_secret
        if kind not in proofs:
            raise CredentialsFault(f"the authentication_type {kind!r} is not known")
        form = {
            "grant_type": text(oauth2, "grant_type") or CLIENT_CREDENTIALS,
            "client_id": text(oauth2, "client_id"),
            **proofs[kind](oauth2),
            "scope": text(oauth2, "scope"),
            "audience": text(oauth2, "audience"),
        }
        return {name: value for name, value in form.items() if value}

    def _shared_secret(self, oauth2: Mapping[str, object]) -> dict[str, str]:
        return {"client_secret": text(oauth2, "client_secret")}

    def _assertion(self, oauth2: Mapping[str, object]) -> dict[str, str]:
        proof = client_assertion(oauth2, self._clock(), serial=f"{self._rng.getrandbits(128):032x}")
        return {"client_assertion_type": JWT_BEARER, "client_assertion": proof}

    def _token(self, oauth2: Mapping[str, object], response: Response) -> Token:
        if response.status != HTTPStatus.OK:
            raise CredentialsFault(f"the token URL answered {response.status}")
        try:
            answer = json.loads(response.body)
        except ValueError:
            answer = None
        names = section(oauth2, "field_mapping") if oauth2.get("field_mapping") else {}
        token = (
            text(answer, text(names, "access_token") or "access_token")
            if isinstance(answer, dict)
            else ""
        )
        if not token:
            raise CredentialsFault("the token URL answered without a token")
        kind = text(answer, text(names, "token_type") or "token_type") or BEARER
        scheme = BEARER if kind.lower() == BEARER.lower() else kind
        life_s = self._life_s(oauth2, answer.get(text(names, "expires_in") or "expires_in"))
        return Token(
            authorization=f"{scheme} {token}",
            fresh_until=self._clock() + life_s - min(EARLY_S, EARLY_SHARE * life_s),
        )

    def _life_s(self, oauth2: Mapping[str, object], expires_in: object) -> float:
        """The token's life; one that names none is used until the endpoint refuses it."""
        if isinstance(expires_in, bool) or not isinstance(expires_in, int | float | str):
            return inf
        try:
            amount = float(expires_in)
        except ValueError:
            return inf
        unit = self._words.oauth2_expiry_units.get(
            text(oauth2, "expiry_time_unit"), TimeUnit.SECONDS
        )
        return amount * unit.in_seconds
