"""URLs split into what a request needs."""

import pytest

from hookproof.mockserver.delivery.http_client.transport import UrlError, parse_url, split_url


@pytest.mark.parametrize(
    ("url", "port", "authority"),
    [
        ("https://a.local/", 443, "a.local"),
        ("http://a.local", 80, "a.local"),
        ("https://a.local:443/", 443, "a.local"),
        ("https://a.local:/", 443, "a.local"),
        ("https://a.local:8443/", 8443, "a.local:8443"),
        ("https://127.0.0.1:8443/", 8443, "127.0.0.1:8443"),
        ("https://[::1]/", 443, "[::1]"),
        ("https://1.local/", 443, "1.local"),
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


@pytest.mark.parametrize(
    "url",
    [
        "",
        "a.local",
        "ftp://a.local/",
        "https://",
        "https://a.local:x/",
        # What stands around brackets is lost when the URL is split, and leads to ::1.
        "https://[::1]evil.local:8443/",
        "https://[::1]evil.local/",
        "https://evil.local[::1]/",
        "https://evil.local[::1]:8443/",
        "https://[::1].evil.local/",
        "https://[::1][::1]/",
        "https://[::1]]:8443/",
        "https://[[::1]]/",
        "https://user@evil.local[::1]/",
        "https://[::1]:80:443/",
        "https://a.local:80:443/",
        # Tabs and line breaks are lost, too.
        "https://127.0.0.1\n.evil.local/",
        "https://a.lo\tcal/",
        "https://a.local\r\n:8443/",
        # What other software ends the host at.
        "https://127.0.0.1\\.evil.local/",
        "https://127.0.0.1 .evil.local/",
        "https://a.local^b/",
        "https://a.local<b>/",
    ],
)
def test_a_url_that_requests_cannot_be_sent_to_raises(url: str) -> None:
    with pytest.raises(UrlError):
        parse_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://user@a.local/",
        "https://user:password@a.local/",
        "https://@a.local/",
        "https://127.0.0.1:443@a.local/",
        "https://127.0.0.1\\@a.local/",
        "https://a.local:0/",
        "https://2130706433/",
        "https://0x7f000001/",
        "https://0x7F.1/",
        "https://127.1/",
        "https://0177.0.0.1/",
        "https://127.0.0.01/",
        "https://127.0.0.1./",
        "https://a.local.1/",
        "https://\uff11\uff12\uff17.0.0.1/",
        "https://127\u30020\u30020\u30021/",
        "https://[fe80::1%25lo]/",
        "https://[::1%25lo]/",
    ],
)
def test_what_may_be_read_as_another_destination_is_refused(url: str) -> None:
    split_url(url)
    with pytest.raises(UrlError, match=r"user information|port 0|unusual form"):
        parse_url(url)


def test_the_message_does_not_repeat_a_password() -> None:
    with pytest.raises(UrlError) as refused:
        parse_url("https://user:hunter-2@a.local/")
    assert "hunter-2" not in str(refused.value)
