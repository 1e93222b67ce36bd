"""URLs of endpoints on which the document is silent are taken or refused as the dialect says."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Acceptance
from tests.mockserver.running_server import every_dialect, run_server

ADDRESSES = (
    "https://127.0.0.1/",
    "https://127.83.71.5/",
    "https://10.1.2.3/",
    "https://192.168.0.1/a",
    "https://169.254.169.254/latest",
    "https://[::1]/",
    "https://[fd00::1]/",
    "HTTPS://127.0.0.1/",
)
PORTS = ("https://one.invalid:8443/", "https://one.invalid:80/")
USER_INFORMATION = (
    "https://user:password@one.invalid/",
    "https://user@one.invalid/",
    "https://@one.invalid/",
)
ODD_HOSTS = (
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0x7f.0.0.1/",
    "https://0177.0.0.1/",
    "https://127.1/",
    "https://127.0.0.1./",
    "https://[::ffff:127.0.0.1]/",
    "https://[::FFFF:8.8.8.8]/",
)
FRAGMENTS = ("https://one.invalid/#part", "https://one.invalid/#", "https://one.invalid/?a#b")
PLAIN = (
    "https://one.invalid/",
    "https://one.invalid:443/a?b=c%23d",
    "https://one.invalid/user@host",
    "https://0x7f.one.invalid/",
    "https://8.8.8.8/",
    "https://[2606:4700::1111]/",
)
KINDS = {
    "url_addresses": ADDRESSES,
    "url_other_ports": PORTS,
    "url_user_information": USER_INFORMATION,
    "url_odd_hosts": ODD_HOSTS,
    "url_fragments": FRAGMENTS,
}


def answering(**answers: Acceptance | None) -> Callable[[Dialect], Dialect]:
    """The change of a dialect that gives these questions about requests an answer, or none."""
    given = {
        name: Answer((), "nobody asked") if answer is None else Answer((answer,))
        for name, answer in answers.items()
    }

    def change(dialect: Dialect) -> Dialect:
        return replace(dialect, requests=replace(dialect.requests, **given))

    return change


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("answer", [Acceptance.TAKEN, Acceptance.REFUSED, None])
async def test_urls_of_one_kind_are_refused_where_the_dialect_says_so(
    name: str, answer: Acceptance | None
) -> None:
    others = dict.fromkeys(KINDS, Acceptance.TAKEN)

    async with run_server("reference", change=answering(**{**others, name: answer})) as server:
        for kind, urls in KINDS.items():
            refused = kind == name and answer is Acceptance.REFUSED
            for url in urls:
                body = {"name": "n", "url": url}
                response = await server.call("createEndpoint", body=body)
                assert response.status == (400 if refused else 201), url
                if refused:
                    assert server.is_refusal(response, 400)
                else:
                    assert response.data["url"] == url


@every_dialect
async def test_a_plain_url_is_taken_whatever_the_dialect_refuses(dialect_name: str) -> None:
    change = answering(**dict.fromkeys(KINDS, Acceptance.REFUSED))
    async with run_server(dialect_name, change=change) as server:
        for url in PLAIN:
            response = await server.call("createEndpoint", body=server.endpoint_body(url=url))
            assert server.is_success("createEndpoint", response), url


async def test_the_reference_dialect_takes_all_of_them() -> None:
    async with run_server("reference") as server:
        for urls in KINDS.values():
            for url in urls:
                response = await server.call("createEndpoint", body=server.endpoint_body(url=url))
                assert server.is_success("createEndpoint", response), url
