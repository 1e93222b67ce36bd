"""Refuses settings of a new endpoint that no delivery could use (sections 2.3 to 2.5)."""

import ssl
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any, Final
from urllib.parse import urlsplit

from hookproof.mockserver.delivery.attempt.headers import CONTENT_TYPE, header_problems
from hookproof.mockserver.delivery.http_client.tls import CertificateError, load_client_certificate
from hookproof.mockserver.delivery.http_client.transport import (
    ODD_ADDRESS,
    ParsedUrl,
    UrlError,
    is_odd_address,
    split_url,
)
from hookproof.mockserver.delivery.store_port import ClientCertificate, certificate_encoding
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.groups.request_vocabulary import Acceptance
from hookproof.spec.dialect.groups.requests import RequestRules
from hookproof.spec.dialect.model import Dialect

HTTPS_PORT: Final = 443


def unusable_settings(body: Mapping[str, Any], dialect: Dialect) -> Iterator[str]:
    """What deliveries to an endpoint with this body could not use, each with its place in it.

    The body fulfils the contract.
    """
    authentication = body.get("authentication", {})
    yield from _header_problems("/content_type", {CONTENT_TYPE: body.get("content_type", "")})
    api_key = authentication.get("api_key", {})
    if "header_name" in api_key:
        header = {api_key["header_name"]: api_key.get("header_value", "")}
        yield from _header_problems("/authentication/api_key", header)
    if authentication.get("type") == dialect.words.auth_oauth2 and not authentication.get("oauth2"):
        yield "/authentication/oauth2: is needed for this type"
    if "url" in body:
        yield from _url_problems(body["url"], dialect.requests)
    if body.get("mtls_client_cert"):
        yield from _certificate_problems(body["mtls_client_cert"], dialect)


def _header_problems(place: str, headers: Mapping[str, Any]) -> Iterator[str]:
    for problem in header_problems(headers):
        yield f"{place}: {problem}"


def _url_problems(url: str, rules: RequestRules) -> Iterator[str]:
    """The contract says which schemes there are (section 8); the rest is looked at here."""
    https_url = f"https:{url.partition(':')[2]}"
    try:
        parsed = split_url(https_url)
    except UrlError:
        yield "/url: is not a URL with a host that requests can be sent to"
        return
    if parsed.key.port == 0:
        yield "/url: nothing can be reached at port 0"
    for answer, is_so, problem in _looked_at(https_url, parsed, rules):
        if is_so and answer.prefers(Acceptance.REFUSED):
            yield f"/url: {problem}"


def _looked_at(
    url: str, parsed: ParsedUrl, rules: RequestRules
) -> Iterator[tuple[Answer[Acceptance], bool, str]]:
    """What a dialect may refuse in a URL, whether this one has it, and how that is called."""
    authority, host = urlsplit(url).netloc, parsed.key.host
    address = _address(host)
    is_mapped = isinstance(address, IPv6Address) and address.ipv4_mapped is not None
    is_odd = is_mapped or is_odd_address(authority, host)
    is_internal = not is_odd and address is not None and not address.is_global
    has_port = parsed.key.port != HTTPS_PORT
    yield rules.url_odd_hosts, is_odd, "has an address in an unusual form"
    yield rules.url_addresses, is_internal, "has an address of a closed network"
    yield rules.url_other_ports, has_port, f"has another port than {HTTPS_PORT}"
    yield rules.url_user_information, "@" in authority, "has user information"
    yield rules.url_fragments, "#" in url, "has a fragment"


def _address(host: str) -> IPv4Address | IPv6Address | None:
    """The address that a host is; None for a name."""
    if not ODD_ADDRESS.search(host):  # a name, as most are: told in a fraction of the time
        return None
    try:
        return ip_address(host)
    except ValueError:
        return None


def _certificate_problems(pair: Mapping[str, Any], dialect: Dialect) -> Iterator[str]:
    written = ClientCertificate(
        certificate=pair.get("client_cert", ""), key=pair.get("client_key", "")
    )
    encoding = certificate_encoding(dialect)
    try:
        certificate = written.in_pem(encoding)
    except ValueError:
        yield f"/mtls_client_cert: is not written as {encoding.value}"
        return
    try:
        load_client_certificate(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), certificate)
    except CertificateError as problem:
        yield f"/mtls_client_cert: {problem}"
