"""Parts of a request that providers sign besides the body: URL, method, form fields, members.

| Placeholder | What it stands for |
|---|---|
| `{method}` | the method of the request |
| `{url}` | the URL that the sender called |
| `{decoded_url}` | the same, with the percent escapes resolved that HubSpot resolves |
| `{path}` | path and query of the URL |
| `{form}` | names and values of a form, sorted by name, without anything between them |
| `{body:MEMBER}` | the text of a member of a JSON body, such as `{body:amount.value}` |
| `{crc32}` | the CRC-32 of the body, as a decimal number |
| `{setting:NAME}` | a text that the scheme or its user gives |
| `{signature_base}` | what an HTTP message signature signs (`message_signatures`) |
"""

import hashlib
import hmac
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs, parse_qsl, urlsplit

from hookproof.receiver.signatures.schemes.model import SIGNATURE_BASE, ProviderScheme
from hookproof.spec.dialect.signature_scheme import SignatureScheme

REQUEST_PART: Final = (
    r"method|url|decoded_url|path|form|crc32|signature_base|body:[\w.-]+|setting:\w+"
)
MEMBER: Final = "body:"
SETTING: Final = "setting:"
NO_LINE: Final = "the scheme signs the request's URL or method: give --url, or a saved request"
LARGEST_INFLATED: Final = 32 * 1024 * 1024
# In the order of HubSpot's documentation of its version 3.
RESOLVED: Final = {
    "%3A": ":", "%2F": "/", "%3F": "?", "%40": "@", "%21": "!", "%24": "$", "%27": "'",
    "%28": "(", "%29": ")", "%2A": "*", "%2C": ",", "%3B": ";",
}  # fmt: skip
ESCAPE: Final = re.compile("|".join(RESOLVED), re.IGNORECASE)
FORM: Final = "application/x-www-form-urlencoded"


class PartMissing(ValueError):
    """A request lacks something that its scheme signs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLine:
    """The method of a request, and the URL that its sender called."""

    method: str
    url: str

    @property
    def is_plain(self) -> bool:
        """Whether they are such as can be signed; a saved request may say anything."""
        try:
            urlsplit(self.url)
        except ValueError:
            return False
        return self.method.isascii() and self.url.isascii()


def prepared_request(
    scheme: SignatureScheme,
    headers: Sequence[tuple[str, str]],
    body: bytes,
    line: RequestLine | None,
) -> tuple[Sequence[tuple[str, str]], bytes, Mapping[str, bytes]]:
    """Headers, body and further parts as a scheme reads them; raises PartMissing.

    Members of the body that the scheme names as headers are added to these. A dialect's scheme may
    sign the URL besides.
    """
    if not isinstance(scheme, ProviderScheme):
        return headers, body, _signed_url(scheme, line)
    if scheme.inflated:
        body = inflated(body)
    names = [name for name in (scheme.header, scheme.timestamp_header) if name]
    wanted = [name.removeprefix(MEMBER) for name in names if name.startswith(MEMBER)]
    headers = [(name, value) for name, value in headers if not name.lower().startswith(MEMBER)]
    for path in wanted:
        text = _member(scheme, body, path)
        if text is not None:
            headers.append((f"{MEMBER}{path}", text))
    if scheme.signs_messages:
        headers, base = _signature_base(scheme, headers, line)
        return headers, body, {SIGNATURE_BASE: base}
    parts = re.findall(rf"\{{({REQUEST_PART})\}}", scheme.signed)
    return headers, body, {part: _part(scheme, part, headers, body, line) for part in parts}


def _signed_url(scheme: SignatureScheme, line: RequestLine | None) -> Mapping[str, bytes]:
    if "{url}" not in scheme.signed:
        return {}
    if line is None:
        raise PartMissing(NO_LINE)
    return {"url": line.url.encode(errors="replace")}


def request_parts(
    line: RequestLine, headers: Sequence[tuple[str, str]], body: bytes
) -> Mapping[str, bytes]:
    """All parts but members; the form only of a form."""
    parts = {"method": line.method.encode(), "url": line.url.encode()}
    try:
        return {**parts, "form": _form(headers, body, line)}
    except PartMissing:
        return parts


def inflated(body: bytes) -> bytes:
    """A body without its compression, gzip or zlib; as it is if it has none."""
    try:
        # 32 more than the window's size: the header, gzip or zlib, is detected.
        stream = zlib.decompressobj(zlib.MAX_WBITS | 32)
        plain = stream.decompress(body, LARGEST_INFLATED)
    except zlib.error:
        return body
    return plain if stream.eof and not stream.unused_data else body


def _part(
    scheme: ProviderScheme,
    part: str,
    headers: Sequence[tuple[str, str]],
    body: bytes,
    line: RequestLine | None,
) -> bytes:
    if part.startswith(MEMBER):
        return (_member(scheme, body, part.removeprefix(MEMBER)) or "").encode(errors="replace")
    if part.startswith(SETTING):
        return _setting(scheme, part.removeprefix(SETTING)).encode(errors="replace")
    if part == "crc32":
        return crc32_text(body)
    if line is None or not line.is_plain:
        raise PartMissing(NO_LINE)
    if part == "form":
        return _form(headers, body, line)
    path = urlsplit(line.url)
    return {
        "method": line.method,
        "url": line.url,
        "decoded_url": ESCAPE.sub(lambda match: RESOLVED[match[0].upper()], line.url),
        "path": path.path + (f"?{path.query}" if path.query else ""),
    }[part].encode()


def crc32_text(body: bytes) -> bytes:
    """The CRC-32 of a body, as a decimal number."""
    return str(zlib.crc32(body)).encode()


def signed_settings(scheme: ProviderScheme) -> Mapping[str, str]:
    """The settings that are signed; those that were not given are empty."""
    names = re.findall(rf"\{{{SETTING}(\w+)\}}", scheme.signed)
    return {name: scheme.settings.get(name, "") for name in names}


def _setting(scheme: ProviderScheme, name: str) -> str:
    text = scheme.settings.get(name)
    if not text:
        raise PartMissing(
            f"the scheme signs its setting {name}, which no request has: "
            f"give it after the name of the scheme, as in --scheme NAME:{name}=TEXT"
        )
    return text


def _signature_base(
    scheme: ProviderScheme, headers: Sequence[tuple[str, str]], line: RequestLine | None
) -> tuple[Sequence[tuple[str, str]], bytes]:
    # Imported late, since few schemes need it and its library takes a while to load.
    from hookproof.receiver.signatures.schemes.message_signatures import (
        NotReadable,
        read_signature,
    )

    if line is None or not line.is_plain:
        raise PartMissing(NO_LINE)
    try:
        return read_signature(scheme, headers, line.method, line.url)
    except NotReadable as problem:
        raise PartMissing(str(problem)) from None


def _form(headers: Sequence[tuple[str, str]], body: bytes, line: RequestLine) -> bytes:
    """The sorted fields. Of any other body, the URL has to hold the hash, or it is not signed."""
    if not body:
        return b""
    if any(name.lower() == "content-type" and FORM in value.lower() for name, value in headers):
        pairs = parse_qsl(body.decode("latin-1"), keep_blank_values=True, encoding="latin-1")
        return "".join(name + value for name, value in sorted(set(pairs))).encode("latin-1")
    hashes = parse_qs(urlsplit(line.url).query).get("bodySHA256", [])
    expected = hashlib.sha256(body).hexdigest()
    if not any(hmac.compare_digest(each.encode(), expected.encode()) for each in hashes):
        raise PartMissing(
            "the body is neither a form nor the one whose SHA-256 the URL has as bodySHA256"
        )
    return b""


def _member(scheme: ProviderScheme, body: bytes, path: str) -> str | None:
    """The text of a member of a JSON body; None if it is not there."""
    try:
        whole = json.loads(body, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return None
    inner = _at(whole, scheme.within) if scheme.within else None
    value = _at(whole if inner is None else inner, path)
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else None


def with_members(scheme: ProviderScheme, body: bytes, members: Mapping[str, str]) -> bytes:
    """A JSON body with these members, by their paths, which is written anew.

    Raises ValueError for a body that has no place for them.
    """
    try:
        whole = json.loads(body)
    except (ValueError, RecursionError):
        raise ValueError("the signature stands in the body, which has to be JSON") from None
    inner = _at(whole, scheme.within) if scheme.within else None
    for path, text in members.items():
        place = whole if inner is None else inner
        *names, last = path.split(".")
        for name in names:
            place = place.setdefault(name, {}) if isinstance(place, dict) else None
        if not isinstance(place, dict):
            raise ValueError(  # noqa: TRY004 - it is for the user to read
                f"the body has no place for the member {path}"
            )
        place[last] = text
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()


def _at(value: Any, path: str) -> Any:
    """What stands at a dotted path; a list is entered only if it has no other elements."""
    for name in path.split("."):
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and len(value) == 1 and name == "0":
            value = value[0]
        else:
            return None
    return value
