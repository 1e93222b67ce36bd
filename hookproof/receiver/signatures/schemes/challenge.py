"""The requests by which senders find out whether a URL is willing to receive, and their answers.

challenge = Challenge(when={"body:type": "url_verification"}, body="{body:challenge}")
challenge.answer(request, None)       # Answer(..., body="3eZbrw1a")
"""

import hmac
import json
import re
from dataclasses import dataclass
from typing import Annotated, Final

import msgspec

from hookproof.receiver.signatures.bytes_as_text import to_text
from hookproof.receiver.signatures.schemes.request_values import Condition, Request
from hookproof.spec.dialect.vocabulary import Encoding, Hash

PLACEHOLDER: Final = re.compile(r"\{(hmac:)?((?:header|query|body):[^\s{}]+)\}")
JSON: Final = "application/json"


class SecretMissing(Exception):
    """The answer is made with a secret, and none is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a sender wants back."""

    headers: tuple[tuple[str, str], ...]
    body: str


class Challenge(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What distinguishes the request of a sender that tries a URL, and what is answered.

    `when` are values of the request and the texts that they have, in which `*` stands for anything.
    In `body` and `headers` a value of the request is written `{query:NAME}`, `{header:NAME}` or
    `{body:PATH}`, and its HMAC with the text of the secret `{hmac:body:PATH}`, by `hash` and
    `encoding`. In JSON the values are escaped.
    """

    when: Annotated[dict[str, str], msgspec.Meta(min_length=1)]
    body: str = ""
    content_type: str = "text/plain; charset=utf-8"
    headers: dict[str, str] = {}
    hash: Hash = Hash.SHA256
    encoding: Encoding = Encoding.HEX

    def __post_init__(self) -> None:
        """Refuse names that are none; msgspec converts ValueError to its own."""
        for name, pattern in self.when.items():
            Condition.of(name, pattern)

    def answer(self, request: Request, secret: str | None) -> Answer | None:
        """The answer to a request; None if it is no challenge. Raises SecretMissing."""
        conditions = (Condition.of(name, pattern) for name, pattern in self.when.items())
        if not all(condition.matches(request) for condition in conditions):
            return None
        headers = (
            (name, _in_header(self._filled(text, request, secret)))
            for name, text in (("Content-Type", self.content_type), *self.headers.items())
        )
        body = self._filled(self.body, request, secret, in_json=JSON in self.content_type)
        return Answer(headers=tuple(headers), body=body)

    def _filled(
        self, template: str, request: Request, secret: str | None, *, in_json: bool = False
    ) -> str:
        def value(match: re.Match[str]) -> str:
            # Half of a surrogate pair, which JSON may hold, cannot be sent.
            text = next(iter(request.values(match[2])), "").encode(errors="replace").decode()
            if match[1]:
                text = self._hmac(text, secret)
            return json.dumps(text)[1:-1] if in_json else text

        return PLACEHOLDER.sub(value, template)

    def _hmac(self, text: str, secret: str | None) -> str:
        if not secret:
            raise SecretMissing
        mac = hmac.digest(secret.encode(), text.encode(), self.hash.value)
        return to_text(self.encoding, mac)


def _in_header(text: str) -> str:
    """A text as a header can hold it: in Latin-1, on one line."""
    plain = text.encode("latin-1", "replace").decode("latin-1")
    return "".join(each if each.isprintable() else " " for each in plain)
