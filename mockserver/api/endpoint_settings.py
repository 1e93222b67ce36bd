"""Refuses settings of a new endpoint that no delivery could use (sections 2.3 to 2.5)."""

import ssl
from collections.abc import Iterator, Mapping
from typing import Any

from hookproof.mockserver.delivery.attempt.headers import CONTENT_TYPE, header_problems
from hookproof.mockserver.delivery.http_client.tls import CertificateError, load_client_certificate
from hookproof.mockserver.delivery.http_client.transport import UrlError, split_url
from hookproof.mockserver.delivery.store_port import ClientCertificate, certificate_encoding
from hookproof.spec.dialect.model import Dialect


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
        yield from _url_problems(body["url"])
    if body.get("mtls_client_cert"):
        yield from _certificate_problems(body["mtls_client_cert"], dialect)


def _header_problems(place: str, headers: Mapping[str, Any]) -> Iterator[str]:
    for problem in header_problems(headers):
        yield f"{place}: {problem}"


def _url_problems(url: str) -> Iterator[str]:
    """The contract says which schemes there are (section 8); the rest is looked at here."""
    try:
        port = split_url(f"https:{url.partition(':')[2]}").key.port
    except UrlError:
        yield "/url: is not a URL with a host that requests can be sent to"
    else:
        if port == 0:
            yield "/url: nothing can be reached at port 0"


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
