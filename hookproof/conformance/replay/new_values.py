"""Puts what holds now in the place of what held in the recorded run.

Identifiers, cursors and secrets are new each time: whatever a request repeats of an earlier answer
is replaced by what stands in the same place of the new answer. Keys and projects are those of the
target, and what distinguishes the names of a run is new, since a service may remember those of the
run before. Credentials are masked in a run file: those that the run had made up are made up again.
"""

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote, quote_plus, unquote, unquote_plus, urlsplit

from hookproof.conformance.experiments.support.json_web_key import elliptic_key, rsa_key
from hookproof.conformance.model.evidence import NOT_JSON, Exchange
from hookproof.conformance.replay.recording import KEY, Recording, key_in, key_number
from hookproof.conformance.target.definition import Project
from hookproof.receiver.client.control_api import IssuedCertificate
from hookproof.receiver.signatures.bytes_as_text import to_text
from hookproof.spec.dialect.model import Dialect
from hookproof.target.masking.credential_names import NAME, is_name

# A string of a JSON text, without its quotes.
STRING: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')
# In characters. A shorter text without a digit is a word, which means the same in each run.
DISTINCTIVE: Final = 20
SECRET_BYTES: Final = 32
# At this port of the machine nobody listens.
NOBODY: Final = 1
KEYS: Final[Mapping[str, Callable[[str], dict[str, str]]]] = {"EC": elliptic_key, "RSA": rsa_key}


class NewValues:
    """What to send in place of what was recorded.

    `projects` are those of the target by the recorded ids; `pair` takes the place of every client
    certificate and its key.
    """

    def __init__(
        self,
        recording: Recording,
        dialect: Dialect,
        projects: Mapping[str, Project],
        *,
        receiver_url: str,
        nonce: str,
        pair: IssuedCertificate,
    ) -> None:
        header = recording.header
        self._base_url = header.target.rstrip("/")
        self._nonces = header.nonce, nonce
        self._receivers = header.receiver_url, receiver_url
        self._elsewhere = _other_ports(header.receiver_url, receiver_url)
        self._dialect, self._pair = dialect, pair
        # Whatever names a key that no request has is of a damaged file.
        self._keys = [
            projects[name].api_key if name in projects else "" for name in header.projects
        ]
        self._in_paths = {recorded: project.id for recorded, project in projects.items()}
        self._new: dict[str, str] = {}
        self._random = random.Random(nonce)
        self._first_sent: dict[str, float] = {}
        for request in recording.requests:
            for text in _sent_texts(request, self._base_url):
                self._first_sent.setdefault(text, request.sent_at)

    def plain(self, text: str) -> str:
        """A text with the new run's own names and receiver."""
        text = text.replace(*self._receivers)
        if self._elsewhere is not None:
            text = self._elsewhere.sub(rf"\g<1>:{NOBODY}", text)
        return text.replace(*self._nonces)

    def with_keys(self, text: str) -> str:
        """The same with keys, for what the target alone reads: in a body one could be sent on, by
        whoever wrote the file to an endpoint of theirs.
        """
        return KEY.sub(self._key, self.plain(text))

    def recorded(self, body: bytes) -> bytes:
        """A body that the new run's names are in, as it would have been in the recorded run."""
        recorded, new = (nonce.encode() for nonce in self._nonces)
        return body.replace(new, recorded)

    def api_key(self, request: Exchange) -> str:
        """The key that a request carried, in the place of the recorded one."""
        match = key_in(request)
        return self._keys[0] if match is None else self._keys[key_number(match) - 1]

    def target(self, request: Exchange) -> str:
        path, mark, query = request.url.removeprefix(self._base_url).partition("?")
        segments = (self._segment(segment) for segment in path.split("/"))
        return "/".join(segments) + mark + "&".join(map(self._parameter, query.split("&")))

    def headers(self, request: Exchange) -> Iterator[tuple[str, str]]:
        """The headers, without Authorization and those that are added for the target."""
        for name, value in request.request_headers:
            if name.lower() != "authorization" and not value.startswith("$HOOKPROOF_HEADER_"):
                yield name, self.with_keys(value)

    def content(self, request: Exchange) -> bytes | None:
        if request.request_body is None:
            return None
        text = self.plain(request.request_body.decode("latin-1"))
        if '"client_key"' in text or '"signing_key"' in text:
            text = self._with_key_pairs(text)
        text = STRING.sub(self._string, text) if self._new else text
        return NAME.sub(self._credential, text).encode("latin-1")

    def put(self, recorded: str, new: str) -> None:
        """Let a text take the place of a recorded one."""
        self._new[recorded] = new

    def learn(self, request: Exchange, answer: Exchange) -> None:
        """Note what in an answer takes the place of what is in the recorded one."""
        if NOT_JSON in (request.json, answer.json):
            return
        answered_at = request.sent_at + request.duration_s
        for old, new in _leaves(request.json, answer.json):
            text = str(old)
            if self._first_sent.get(text, 0.0) < answered_at or text == str(new):
                continue  # it is asked for nowhere, or the run itself had thought of it
            if isinstance(old, str) and _is_distinctive(text):
                self._new.setdefault(text, str(new))
            else:
                self._in_paths.setdefault(text, str(new))

    def _key(self, match: re.Match[str]) -> str:
        key = self._keys[min(key_number(match), len(self._keys)) - 1]
        return key[:-1] if match["cut"] else key

    def _segment(self, segment: str) -> str:
        text = unquote(segment)
        new = self._in_paths.get(text, self._new.get(text))
        return self.plain(segment) if new is None else quote(new, safe="")

    def _parameter(self, parameter: str) -> str:
        name, equals, value = parameter.partition("=")
        new = self._new.get(unquote_plus(value))
        return name + equals + (self.with_keys(value) if new is None else quote_plus(new))

    def _string(self, match: re.Match[str]) -> str:
        text = match[1].encode("latin-1").decode("utf-8", "replace")
        new = None if is_name(text) else self._new.get(text)
        return match[0] if new is None else json.dumps(new)

    def _credential(self, match: re.Match[str]) -> str:
        known = self._new.get(match[0])
        if known is None:
            known = self._new[match[0]] = self._made_up()
        return json.dumps(known)[1:-1]

    def _made_up(self) -> str:
        """A credential in the form of the dialect's signing secrets."""
        rules = self._dialect.signatures.secret
        content = self._random.randbytes(SECRET_BYTES)
        return rules.prefix + to_text(rules.form, content)

    def _with_key_pairs(self, text: str) -> str:
        """A body with keys of which both halves are known."""
        try:
            body = self._paired(json.loads(text.encode("latin-1")))
            return json.dumps(body, separators=(",", ":"))
        except (ValueError, RecursionError):
            return text

    def _paired(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._paired(item) for item in value]
        if not isinstance(value, dict):
            return value
        if is_name(str(value.get("client_key"))) and "client_cert" in value:
            ours = {"client_cert": self._pair.client_cert, "client_key": self._pair.client_key}
            return {**value, **ours}
        if is_name(str(value.get("d"))) and (new_key := KEYS.get(str(value.get("kty")))):
            return {**value, **new_key(str(value.get("kid")))}
        return {name: self._paired(item) for name, item in value.items()}


def _other_ports(recorded: str, new: str) -> re.Pattern[str] | None:
    """Matches a URL on the machine of the recorded receiver, at other ports than the new one's:
    whoever listens there now is not meant.
    """
    parts, ours = urlsplit(recorded), urlsplit(new)
    if parts.hostname is None or parts.hostname != ours.hostname or ours.port is None:
        return None
    return re.compile(rf"(https?://{re.escape(parts.hostname)}):(?!{ours.port}\b)\d+")


def _sent_texts(request: Exchange, base_url: str) -> Iterator[str]:
    """What a request says: parts of its path, values of its query, texts of its body."""
    path, _, query = request.url.removeprefix(base_url).partition("?")
    yield from map(unquote, path.split("/"))
    yield from (unquote_plus(each.partition("=")[2]) for each in query.split("&"))
    for match in STRING.finditer((request.request_body or b"").decode("latin-1")):
        text = match[1].encode("latin-1").decode("utf-8", "replace")
        yield text
        yield from NAME.findall(text)


def _leaves(old: Any, new: Any) -> Iterator[tuple[str | int, str | int]]:
    """The texts and numbers that stand in the same places of both, the first ones first."""
    pairs = [(old, new)]
    while pairs:  # an answer may be nested deeper than functions can be
        first, second = pairs.pop()
        if isinstance(first, dict) and isinstance(second, dict):
            pairs += [(first[name], second[name]) for name in reversed(first) if name in second]
        elif isinstance(first, list) and isinstance(second, list):
            pairs += reversed(list(zip(first, second, strict=False)))
        elif _is_leaf(first) and _is_leaf(second):
            yield first, second


def _is_leaf(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _is_distinctive(text: str) -> bool:
    return len(text) >= DISTINCTIVE or any(character.isdigit() for character in text)
