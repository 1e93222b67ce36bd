"""URLs split into what a request needs."""

import pytest

from hookproof.mockserver.delivery.http_client.transport import UrlError, parse_url


@pytest.mark.parametrize(
    ("url", "port", "authority"),
    [
        ("https://a.local/", 443, "a.local"),
        ("http://a.local", 80, "a.local"),
        ("https://a.local:443/", 443, "a.local"),
        ("https://a.local:/", 443, "a.local"),
        ("https://a.local:8443/", 8443, "a.local:8443"),
        ("https://a.local:0/", 0, "a.local:0"),
        ("https://[::1]:80/", 80, "[::1]:80"),
    ],
)
def test_only_a_url_without_a_port_has_the_default_port(
    url: str, port: int, authority: str
) -> None:
    parsed = parse_url(url)
    assert (parsed.key.port, parsed.authority) == (port, authority)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://a.local", "/"),
        ("https://a.local/b%20c?d=e f", "/b%20c?d=e%20f"),
        ("https://a.local/\u00fc", "/%C3%BC"),
        ("https://a.local/b#c", "/b"),
    ],
)
def test_the_target_is_the_encoded_path_and_query(url: str, target: str) -> None:
    assert parse_url(url).target == target


@pytest.mark.parametrize("url", ["", "a.local", "ftp://a.local/", "https://", "https://a.local:x/"])
def test_a_url_that_requests_cannot_be_sent_to_raises(url: str) -> None:
    with pytest.raises(UrlError):
        parse_url(url)
