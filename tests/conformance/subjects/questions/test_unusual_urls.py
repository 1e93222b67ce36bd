"""The unusual endpoint URLs that are tried lead nowhere else, and none of them comes twice."""

import itertools
from ipaddress import ip_address
from urllib.parse import urlsplit

from hookproof.conformance.subjects.questions.evidence import URL_FIELDS, UrlKind
from hookproof.conformance.subjects.questions.experiment import ODD_HOSTS, PORT, UnusualUrls


def all_urls() -> list[tuple[UrlKind | None, str]]:
    numbers = itertools.count()
    urls = UnusualUrls(lambda stem: f"{stem}-{next(numbers)}")
    groups = (
        urls.beside_plain(),
        urls.addresses(with_port=True),
        urls.addresses(with_port=False),
    )
    return [
        (None, urls.plain()),
        (UrlKind.OTHER_PORT, urls.ported()),
        *((kind, url) for group in groups for kind, found in group.items() for url in found),
    ]


def test_they_lead_to_reserved_names_and_to_the_own_machine() -> None:
    for _, url in all_urls():
        parts = urlsplit(url)
        host = parts.hostname or ""
        assert parts.port in (None, PORT)
        assert (
            host.endswith(".invalid")
            or f"[{host}]" in ODD_HOSTS
            or host in ODD_HOSTS
            or (ip_address(host).is_loopback)
        ), url


def test_each_kind_has_some_and_none_comes_twice() -> None:
    kinds, urls = zip(*all_urls(), strict=True)
    assert set(kinds) == {None, *URL_FIELDS} == {None, *UrlKind}
    paths = [urlsplit(url).path for url in urls]
    assert len(set(paths)) == len(paths)
