"""The words for outgoing authentication, by what deliveries carry (section 2.5).

That is tried where a service accepts words that it does not know: an endpoint for each word shows
by its deliveries whether the service knows it.
"""

import asyncio
from typing import Any, Final

from hookproof.conformance.experiments.support.authentications import api_key, basic_auth
from hookproof.conformance.experiments.support.json_web_key import rsa_key
from hookproof.conformance.learning.candidates import candidates
from hookproof.conformance.learning.deliveries.listener import DeliverySession
from hookproof.receiver.replies.token_server_settings import TokenServerSettings
from hookproof.spec.dialect.vocabulary import OnInput

API_KEY: Final = "words.auth_api_key"
BASIC: Final = "words.auth_basic"
OAUTH2: Final = "words.auth_oauth2"
SHARED: Final = "words.oauth2_shared_secret"
ASSERTION: Final = "words.oauth2_assertion"
HEADER: Final = "X-Learned-Key"
# How many words are tried for each kind.
MOST_WORDS: Final = 3


class WordListeners:
    """An endpoint for each word, and for oauth2 a token server that only it asks."""

    def __init__(self, delivery: DeliverySession) -> None:
        self._delivery = delivery
        self._token_servers: dict[tuple[str, str], str] = {}

    @property
    def are_needed(self) -> bool:
        """Whether the API alone did not show the words."""
        answers = self._delivery.session.answers
        others = answers.dialect.words.other_words_in("type")
        return not answers.is_seen(OAUTH2) and others.allowed == (OnInput.IGNORED,)

    def _words(self, field: str) -> tuple[str, ...]:
        extended = self._delivery.session.answers.extended
        return candidates(field, extended)[:MOST_WORDS]

    async def listen(self) -> None:
        """Create the endpoints for all words but that of assertions."""
        word = self._delivery.session.word
        for tried in self._words(API_KEY):
            await self._listen(API_KEY, tried, api_key(tried, word("value"), HEADER))
        for tried in self._words(BASIC):
            value = basic_auth(tried, word("user"), word("password"))
            await self._listen(BASIC, tried, value)
        shared = self._words(SHARED)[0]
        for tried in self._words(OAUTH2):
            await self._listen_with_token(OAUTH2, tried, tried, shared)

    async def listen_for_assertions(self) -> None:
        """Create the endpoints for the words within oauth2, once its own word has been seen."""
        # A delivery comes after the request for its token, which is under way as long.
        await asyncio.sleep(2 * self._delivery.way_s)
        await self.read()
        answers = self._delivery.session.answers
        if not answers.is_seen(OAUTH2):
            return
        for tried in self._words(ASSERTION):
            await self._listen_with_token(
                ASSERTION, tried, answers.value(OAUTH2), tried, rsa_key(tried)
            )

    async def read(self) -> None:
        """Learn the words whose deliveries carry what they should, or that led to a token."""
        answers, listeners = self._delivery.session.answers, self._delivery.listeners
        await self._delivery.read_all()
        for field, header in ((API_KEY, HEADER), (BASIC, "Authorization")):
            for tried in self._words(field):
                listener = listeners.get(f"{field} {tried}")
                carried = (
                    [each for each in listener.arrived if each.header(header)] if listener else []
                )
                if carried and not answers.is_seen(field):
                    place = f"delivery {carried[0].sequence} at {carried[0].token}"
                    answers.see(field, tried, shown_by=place, count=len(carried))
        for (field, tried), token in self._token_servers.items():
            requests = await self._delivery.receiver.token_requests(token)
            by_assertion = field == ASSERTION
            asked = [each for each in requests if (each.proved_by == "assertion") == by_assertion]
            if asked and not answers.is_seen(field):
                place = f"a token request at {token}"
                answers.see(field, tried, shown_by=place, count=len(asked))
                if field == OAUTH2:
                    answers.see(SHARED, self._words(SHARED)[0], shown_by=place, count=len(asked))

    async def _listen(self, field: str, tried: str, authentication: dict[str, Any]) -> None:
        await self._delivery.listen(f"{field} {tried}", authentication=authentication)

    async def _listen_with_token(
        self, field: str, tried: str, kind: str, way: str, key: dict[str, str] | None = None
    ) -> None:
        session, receiver = self._delivery.session, self._delivery.receiver
        server, client = await receiver.new_token(), session.word("client")
        await receiver.token_server(server.token, TokenServerSettings())
        self._token_servers[field, tried] = server.token
        oauth2: dict[str, Any] = {
            "url": server.url,
            "authentication_type": way,
            "client_id": client,
            "grant_type": "client_credentials",
            "scope": session.word("scope"),
        }
        if key is None:
            oauth2["client_secret"] = session.word("shared")
        else:
            oauth2 |= {"signing_key": key, "signing_algorithm": "RS256", "subject": client}
            oauth2 |= {"issuer": client, "audience": server.url}
        await self._listen(field, tried, {"type": kind, "oauth2": oauth2})
