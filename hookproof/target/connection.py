"""How requests reach the API of the target: further headers, certificates and a proxy.

headers: {X-Version: "2"}
connection:
  ca: api-ca.pem                       # trusted in place of the system's certificates
  client_cert: client.pem
  client_key: client.key
  proxy: http://proxy.example:3128
  verify: true                         # false accepts any certificate
"""

import re
import ssl
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self
from urllib.parse import urlsplit

import msgspec

from hookproof.process.exit_codes import CommandError
from hookproof.spec.given_file import confirm_plain
from hookproof.spec.strict_yaml.file_problem import Location
from hookproof.target.target_file import TargetFile

# Headers that every request has for a reason of its own: the key (section 5), and the framing of
# the message (RFC 9112).
RESERVED: Final = frozenset(
    {
        "authorization",
        "connection",
        "content-length",
        "content-type",
        "expect",
        "host",
        "transfer-encoding",
    }
)
UNVERIFIED: Final = (
    "The certificate of the API was not verified (connection.verify is false in target.yaml), so it"
    " is not certain whose answers these are."
)
PROXIED: Final = (
    "The API was called through an HTTP proxy (connection.proxy in target.yaml), whose time is part"
    " of what was measured."
)
NOT_VERIFIED: Final = "CERTIFICATE NOT VERIFIED"
PROXY_SCHEME: Final = "http"
# A name and a value that can stand in a header: RFC 9110, sections 5.1 and 5.5.
_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE: Final = re.compile(r"[!-~](?:[ -~]*[!-~])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiConnection:
    """`headers` go with each request, and may hold credentials; the paths are of PEM files."""

    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    ca: Path | None = None
    client_cert: Path | None = None
    client_key: Path | None = None
    proxy: str | None = field(default=None, repr=False)
    verify: bool = True

    def with_headers(self, headers: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """The headers of a request and the further ones, which replace those of the same name."""
        names = {name.lower() for name, _ in self.headers}
        return (*(pair for pair in headers if pair[0].lower() not in names), *self.headers)

    def verifies(self, base_url: str) -> bool:
        """Whether it is certain whose answers come from there, as far as certificates show it."""
        return self.verify or not base_url.startswith("https:")

    def tls_context(self) -> ssl.SSLContext:
        """TLS as a client of the API; raises OSError for files that cannot be used."""
        for path in filter(None, (self.ca, self.client_cert, self.client_key)):
            confirm_plain(path)
        context = ssl.create_default_context(cafile=self.ca)
        if self.client_cert is not None:
            # Without a password OpenSSL would ask for that of an encrypted key on the terminal.
            context.load_cert_chain(self.client_cert, self.client_key, password="")
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    def to_json(self) -> str:
        """A text from which another process reads the connection."""
        return msgspec.json.encode(self, enc_hook=str).decode()

    @classmethod
    def from_json(cls, text: str) -> Self:
        return msgspec.json.decode(text, type=cls, dec_hook=lambda kind, value: kind(value))


DIRECT: Final = ApiConnection()


def connection_of(file: TargetFile) -> ApiConnection:
    """The connection that the file describes; raises FileProblems and CommandError."""
    check_connection(file)
    headers = file.values.get("headers", {})
    written = dict(file.values.get("connection", {}))
    files = {
        name: file.folder / written.pop(name)
        for name in ("ca", "client_cert", "client_key")
        if name in written
    }
    connection = ApiConnection(headers=tuple(headers.items()), **files, **written)
    for name, path in files.items():
        if not path.is_file():
            raise CommandError(f"connection.{name}: {path} is not a file")
    try:
        connection.tls_context()
    except OSError as problem:
        names = ", ".join(map(str, files.values()))
        raise CommandError(
            f"connection: {names}: cannot be used for TLS ({problem}); ca needs certificates in"
            " PEM, client_cert a certificate and client_key its key, without a password"
        ) from None
    return connection


def check_connection(file: TargetFile) -> None:
    """Raise FileProblems for headers or a proxy that cannot be used; no other file is read."""
    proxy = file.values.get("connection", {}).get("proxy")
    file.refuse([*_header_problems(file.values.get("headers", {})), *_proxy_problems(proxy)])


def _header_problems(headers: dict[str, str]) -> Iterator[tuple[Location, str]]:
    for name, value in headers.items():
        where = ("headers", name)
        if not _NAME.fullmatch(name):
            yield where, f"{name!r} cannot be the name of a header"
        elif name.lower() in RESERVED:
            yield where, f"{name} is written by hookproof itself"
        elif not _VALUE.fullmatch(value):
            yield where, "the value cannot stand in a header: it is not printable ASCII"
    lower = [name.lower() for name in headers]
    for name in headers:
        if lower.count(name.lower()) > 1:
            yield ("headers", name), "the same header stands here in another spelling too"


def _proxy_problems(proxy: str | None) -> Iterator[tuple[Location, str]]:
    if proxy is None:
        return
    try:
        parts = urlsplit(proxy)
        usable = parts.scheme == PROXY_SCHEME and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        yield ("connection", "proxy"), "not the URL of an HTTP proxy, such as http://proxy:3128"
