"""Deliveries as people have them: a request, an export, an event of a cloud function.

`read_delivery` tells by the content what a file is. All of them become one `SavedDelivery`.
"""

import base64
import binascii
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from hookproof.receiver.signatures.schemes.request_parts import RequestLine
from hookproof.spec.given_file import read_given

FIELD: Final = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*")
# The largest file or body, in bytes.
LARGEST: Final = 32 * 2**20
STATUS_OR_REQUEST_LINE: Final = re.compile(r"[A-Za-z]+ \S+( HTTP/[0-9.]+)?")
CHUNK_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")
# Lines of `curl -v`: what it sent, and what it says itself.
CURL_SENT: Final = "> "
READABLE: Final = (
    "an HTTP request (a request line, headers, an empty line, and the body), what `curl -v` shows, "
    "an HTTP archive (.har), an event of AWS Lambda, Vercel or Netlify, an export of webhook.site "
    "or ngrok, or a line of `hookproof receive --jsonl`"
)

Fields = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedDelivery:
    """Headers in order, and the raw body, None if the file has none.

    `arrived_at` is in Unix seconds, where it was saved with the delivery.
    """

    headers: Fields
    body: bytes | None
    line: RequestLine | None = None
    arrived_at: float | None = None


def read_headers(options: Iterable[str]) -> Fields:
    """Parse headers written `Name: value`; `@FILE` is a file with one on each line.

    Raises ValueError.
    """
    fields: list[tuple[str, str]] = []
    for option in options:
        lines = _read_lines(Path(option[1:])) if option.startswith("@") else [option]
        fields += [_parse_field(line) for line in lines]
    return tuple(fields)


def read_delivery(path: Path) -> SavedDelivery:
    """Read a file of any form that `READABLE` names; raises ValueError."""
    content = read_file(path)
    if content.lstrip()[:1] in {b"{", b"["}:
        return _from_json(path, content)
    if re.search(rb"(?m)^> [A-Z]+ \S+ HTTP/", content):
        return _from_curl(content)
    return _from_request(path, content)


def read_file(path: Path) -> bytes:
    """The content of a file of at most LARGEST bytes; raises ValueError."""
    try:
        return read_given(path, LARGEST)
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror or error}") from None


def read_standard_input() -> bytes:
    """A body of at most LARGEST bytes; raises ValueError."""
    if sys.stdin is None or sys.stdin.isatty():
        raise ValueError("the body is read from standard input: add `< body.json`, or give --body")
    body = sys.stdin.buffer.read(LARGEST + 1)
    if len(body) > LARGEST:
        raise ValueError(f"the body is larger than {LARGEST} bytes")
    return body


def _from_request(path: Path | str, content: bytes) -> SavedDelivery:
    """A whole HTTP/1 request as on the wire; bare line feeds are accepted."""
    match = re.search(rb"\r?\n\r?\n", content)
    head = content[: match.start()] if match else content
    first, *lines = head.decode("latin-1").splitlines() or [""]
    if match is None or not STATUS_OR_REQUEST_LINE.fullmatch(first):
        raise ValueError(f"{path} does not hold an HTTP request, nor anything else of: {READABLE}")
    headers = tuple(_parse_field(line) for line in lines)
    method, target, *_ = first.split(" ")
    body = content[match.end() :]
    chunked = any(
        name.lower() == "transfer-encoding" and value.lower() == "chunked"
        for name, value in headers
    )
    return SavedDelivery(
        headers=headers,
        body=_without_chunks(body) if chunked else body,
        line=_line(method, target, headers),
    )


def _without_chunks(body: bytes) -> bytes:
    """The content of chunks (RFC 9112, 7.1); the body as it is if it does not consist of them."""
    content, rest = b"", body
    while match := CHUNK_SIZE.match(rest):
        size = int(match[1], 16)
        if not size:
            return content
        chunk, rest = rest[match.end() :][:size], rest[match.end() + size :]
        end = re.match(rb"\r?\n", rest)
        if len(chunk) < size or end is None:
            break
        content, rest = content + chunk, rest[end.end() :]
    return body


def _from_curl(content: bytes) -> SavedDelivery:
    sent = [
        line.removeprefix(CURL_SENT)
        for line in content.decode("latin-1").splitlines()
        if line.startswith(CURL_SENT) and line.strip() != ">"
    ]
    method, target, *_ = sent[0].split(" ")
    headers = tuple(_parse_field(line) for line in sent[1:])
    return SavedDelivery(headers=headers, body=None, line=_line(method, target, headers))


def _line(method: str, target: str, headers: Fields) -> RequestLine:
    """Method and URL; https unless the target says otherwise, as nearly all webhooks are."""
    host = next((value for name, value in headers if name.lower() == "host"), "")
    url = target if "://" in target else f"https://{host}{target}"
    return RequestLine(method=method.upper(), url=url)


def _from_json(path: Path, content: bytes) -> SavedDelivery:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        lines = content.splitlines()
        raise ValueError(
            f"{path} holds {len(lines)} lines: keep the one of the delivery"
            if len(lines) > 1 and _is_json(lines[0])
            else f"{path} is neither JSON nor an HTTP request"
        ) from None
    for wrapped in ("data", "requests"):  # exports of several
        if isinstance(value, dict) and isinstance(value.get(wrapped), list):
            value = value[wrapped]
    if isinstance(value, list):
        value = _only(value)
    for read in READERS:
        try:
            delivery = read(value)
        except (KeyError, TypeError, AttributeError, IndexError):
            continue
        except (binascii.Error, UnicodeError) as error:
            raise ValueError(f"{path}: the body is not base64: {error}") from None
        return delivery
    raise ValueError(f"{path} is JSON, but not a saved delivery that can be read: give {READABLE}")


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _from_receiver(value: Any) -> SavedDelivery:
    """A line of `hookproof receive --jsonl`, or what its control API shows."""
    body = base64.b64decode(value["body_b64"], validate=True)
    headers = tuple((str(name), str(text)) for name, text in value["headers"])
    return SavedDelivery(
        headers=headers,
        body=body,
        line=_line(value["method"], value["path"], headers),
        arrived_at=float(value["arrived_at"]),
    )


def _from_archive(value: Any) -> SavedDelivery:
    """An HTTP archive."""
    requests = [entry["request"] for entry in value["log"]["entries"]]
    request = _only([each for each in requests if each.get("postData")] or requests)
    headers = tuple((each["name"], each["value"]) for each in request["headers"])
    headers = tuple((name, text) for name, text in headers if not name.startswith(":"))
    content = request.get("postData") or {}
    text = content.get("text") or ""
    body = base64.b64decode(text) if content.get("encoding") == "base64" else text.encode()
    return SavedDelivery(
        headers=headers, body=body, line=_line(request["method"], request["url"], headers)
    )


def _from_ngrok(value: Any) -> SavedDelivery:
    """A request as ngrok's inspection API shows it."""
    raw = base64.b64decode(value["request"]["raw"])
    return _from_request("the request within it", raw)


def _from_webhook_site(value: Any) -> SavedDelivery:
    """A request as webhook.site exports it."""
    if "content" not in value or "uuid" not in value:
        raise KeyError("content")
    headers = _mapped(value["headers"])
    return SavedDelivery(
        headers=headers,
        body=(value["content"] or "").encode(),
        line=_line(value["method"], value["url"], headers),
    )


def _from_event(value: Any) -> SavedDelivery:
    """An event of a cloud function: AWS API Gateway and function URLs, Vercel, Netlify."""
    several = value.get("multiValueHeaders")
    headers = _mapped(several or value["headers"])
    body = value["body"]
    if not isinstance(body, str | None):
        raise ValueError(  # noqa: TRY004 - it is for the user to read
            "the body in this event is parsed JSON: its text is needed, byte for byte as it came"
        )
    http = (value.get("requestContext") or {}).get("http") or {}
    method = http.get("method") or value.get("httpMethod") or value.get("method") or "POST"
    query = value.get("rawQueryString") or ""
    path = value.get("rawUrl") or value.get("rawPath") or value.get("path") or "/"
    text = body or ""
    encoded = value.get("isBase64Encoded") or value.get("encoding") == "base64"
    return SavedDelivery(
        headers=headers,
        body=base64.b64decode(text, validate=True) if encoded else text.encode(),
        line=_line(method, f"{path}?{query}" if query and "?" not in path else path, headers),
    )


READERS: Final[Sequence[Callable[[Any], SavedDelivery]]] = (
    _from_receiver,
    _from_archive,
    _from_ngrok,
    _from_webhook_site,
    _from_event,
)


def _only(requests: Sequence[Any]) -> Any:
    if len(requests) != 1:
        raise ValueError(f"the file holds {len(requests)} requests: keep the one of the delivery")
    return requests[0]


def _mapped(headers: Mapping[str, Any]) -> Fields:
    return tuple(
        (str(name), str(text))
        for name, value in headers.items()
        for text in (value if isinstance(value, list) else [value])
    )


def _parse_field(line: str) -> tuple[str, str]:
    match = FIELD.fullmatch(line)
    if match is None:
        raise ValueError(f"{line[:60]!r} is not a header; write 'Name: value'")
    return match[1], match[2]


def _read_lines(path: Path) -> list[str]:
    lines = read_file(path).decode("latin-1").splitlines()
    return [line for line in lines if line.strip() and not STATUS_OR_REQUEST_LINE.fullmatch(line)]


def with_url(delivery: SavedDelivery, url: str | None) -> SavedDelivery:
    """The delivery as sent to this URL, the one that the sender called; raises ValueError."""
    if url is None:
        return delivery
    if urlsplit(url).scheme not in {"http", "https"}:
        raise ValueError(f"{url!r} is not a URL: write it as the sender has it, with https://")
    method = delivery.line.method if delivery.line else "POST"
    return replace(delivery, line=RequestLine(method=method, url=url))
