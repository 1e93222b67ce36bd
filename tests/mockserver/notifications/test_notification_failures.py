"""Chats and mail servers that fail, hang or are out of bounds: only the notification is lost."""

import asyncio
import logging
import ssl
from dataclasses import replace
from typing import Any

import pytest

from hookproof.mockserver.notifications.channels import MailServer
from tests.mockserver.delivery.endpoints import (
    EndpointRequest,
    LoopbackAuthority,
    Responder,
    always_ok,
    answering,
    never_answers,
    reply,
    serving,
)
from tests.mockserver.delivery.engines import dialect
from tests.mockserver.notifications.mail_server import mail_server, silent_server
from tests.mockserver.notifications.scenario import DATA, ONCE, QUICK_LIMITS, start_servers
from tests.mockserver.running_server import run_server

IMPATIENT_LIMITS = replace(QUICK_LIMITS, timeout_s=0.2)


async def hang_up(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


@pytest.mark.parametrize(
    ("chat", "state", "attempts", "detail"),
    [
        (answering(reply(500), reply(200)), "sent", 2, ""),
        (answering(reply(429), reply(204)), "sent", 2, ""),
        (answering(reply(503)), "failed", 3, "the chat webhook answered 503"),
        (answering(reply(404)), "failed", 1, "the chat webhook answered 404"),
        (
            answering(reply(302, "Location: https://127.0.0.1:1/")),
            "failed",
            3,
            "the chat webhook answered 302",
        ),
        (answering(b"SSH-2.0-mine\r\n"), "failed", 3, "not HTTP/1.1"),
        (hang_up, "failed", 3, "closed the connection"),
    ],
)
async def test_a_chat_is_tried_again_a_few_times_where_that_may_help(
    authority: LoopbackAuthority, chat: Responder, state: str, attempts: int, detail: str
) -> None:
    async with start_servers(
        authority, chat=chat, limits=replace(QUICK_LIMITS, attempts=3)
    ) as servers:
        await servers.create_endpoint()
        await servers.broadcast()
        [entry] = await servers.notifications(1, channel="chat")
        assert (entry["state"], entry["attempts"]) == (state, attempts)
        assert detail in entry["detail"]
        assert len(servers.chat.arrived) == attempts


@pytest.mark.parametrize(
    ("errors", "state", "attempts", "detail"),
    [
        (("451 try again later",), "sent", 2, ""),
        (("550 no dev@receiver.invalid here",), "failed", 1, "the mail server answered 550"),
        (("450 busy",) * 3, "failed", 3, "the mail server answered 450"),
    ],
)
async def test_a_mail_is_tried_again_a_few_times_where_that_may_help(
    authority: LoopbackAuthority, errors: tuple[str, ...], state: str, attempts: int, detail: str
) -> None:
    async with start_servers(
        authority, errors=errors, limits=replace(QUICK_LIMITS, attempts=3)
    ) as servers:
        await servers.create_endpoint()
        await servers.broadcast()
        [entry] = await servers.notifications(1, channel="email")
        assert (entry["state"], entry["attempts"], entry["detail"]) == (state, attempts, detail)
        assert servers.mails.rcpt_commands == attempts
        assert len(servers.mails.messages) == (state == "sent")


async def test_a_chat_and_a_mail_server_that_hang_delay_no_delivery(
    authority: LoopbackAuthority,
) -> None:
    """Deliveries of later events and other endpoints end while the notifications still hang."""
    async with silent_server() as port:
        mail = MailServer(host="127.0.0.1", port=port)
        limits = replace(QUICK_LIMITS, timeout_s=300.0)
        async with (
            start_servers(authority, chat=never_answers, mail=mail, limits=limits) as servers,
            serving(always_ok, authority.context()) as healthy,
        ):
            await servers.server.create_endpoint(url=healthy.url)
            for _ in range(3):
                await servers.create_endpoint()
            await servers.broadcast(20)
            assert len(healthy.arrived) == 20
            assert len(servers.failing.arrived) == 60
            journal = await servers.server.journal(kind="notifications")
            assert journal["notifications"] == []


async def test_what_hangs_is_given_up_and_logged_without_a_secret(
    authority: LoopbackAuthority, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, logger="hookproof.mockserver"):
        async with silent_server() as port:
            mail = MailServer(host="127.0.0.1", port=port)

            async with start_servers(
                authority, chat=never_answers, mail=mail, limits=IMPATIENT_LIMITS
            ) as servers:
                endpoint = await servers.create_endpoint(name="orders")
                await servers.broadcast()
                entries = await servers.notifications(2)
                assert {(entry["state"], entry["attempts"]) for entry in entries} == {("failed", 2)}
                assert {entry["detail"] for entry in entries} == {"no answer within 0.2 s"}
                warnings = [record.getMessage() for record in caplog.records]
                assert sum(endpoint["uid"] in line for line in warnings) == 2
    for secret in ("s3cret", "hooks/T0", "dev@", "t0ken", "4111-payload"):
        assert secret not in caplog.text, secret


async def test_a_server_that_stops_gives_up_what_hangs_and_logs_it(
    authority: LoopbackAuthority, caplog: pytest.LogCaptureFixture
) -> None:
    async with start_servers(
        authority, chat=never_answers, limits=replace(QUICK_LIMITS, timeout_s=300.0)
    ) as servers:
        await servers.create_endpoint(support_email="")
        await servers.broadcast(3)
    assert "1 notifications by chat unsent" in caplog.text
    assert "2 notifications held back" in caplog.text


@pytest.mark.parametrize(
    ("url", "detail"),
    [
        ("https://10.0.0.1/hooks/s3cret", "closed"),
        ("https://192.168.1.1/hooks/s3cret", "closed"),
        ("http://169.254.169.254/latest/meta-data/s3cret", "closed"),
        ("https://[::ffff:10.0.0.1]/s3cret", "closed"),
        ("https://chat.invalid/s3cret", "reserved name"),
        ("ftp://127.0.0.1/s3cret", "not a plain http or https URL"),
        ("https://user:s3cret@10.0.0.1/", "not a plain http or https URL"),
        ("s3cret", "not a plain http or https URL"),
    ],
)
async def test_a_chat_url_goes_through_the_guard_and_stays_out_of_the_log(
    authority: LoopbackAuthority, caplog: pytest.LogCaptureFixture, url: str, detail: str
) -> None:
    async with start_servers(authority) as servers:
        await servers.create_endpoint(slack_webhook_url=url)
        await servers.broadcast()
        [entry] = await servers.notifications(1, channel="chat")
        assert (entry["state"], entry["attempts"]) == ("failed", 1)
        assert detail in entry["detail"]
        assert "s3cret" not in str(entry) + caplog.text
        assert len(await servers.notifications(1, channel="email", state="sent")) == 1


async def test_a_chat_whose_certificate_is_not_trusted_is_sent_nothing(
    authority: LoopbackAuthority, tmp_path_factory: pytest.TempPathFactory
) -> None:
    untrusted = LoopbackAuthority(tmp_path_factory.mktemp("untrusted"))

    async with (
        start_servers(authority) as servers,
        serving(always_ok, untrusted.context()) as chat,
    ):
        await servers.create_endpoint(slack_webhook_url=f"{chat.url}/hooks")
        await servers.broadcast()
        [entry] = await servers.notifications(1, channel="chat")
        assert entry["state"] == "failed"
        assert "no TLS" in entry["detail"]
        assert chat.arrived == []


@pytest.mark.parametrize("host", ["169.254.169.254", "mail.invalid"])
async def test_the_mail_server_s_address_goes_through_the_guard_too(
    authority: LoopbackAuthority, host: str
) -> None:
    async with start_servers(authority, mail=MailServer(host=host, port=25)) as servers:
        await servers.create_endpoint()
        await servers.broadcast()
        [entry] = await servers.notifications(1, channel="email")
        assert (entry["state"], entry["attempts"]) == ("failed", 1)


async def test_a_mail_server_that_is_not_there_costs_only_the_mail(
    authority: LoopbackAuthority,
) -> None:
    async with start_servers(authority, mail=MailServer(host="127.0.0.1", port=1)) as servers:
        await servers.create_endpoint()
        await servers.broadcast()
        [entry] = await servers.notifications(1, channel="email")
        assert (entry["state"], entry["attempts"]) == ("failed", 2)
        assert "cannot be reached" in entry["detail"]
        assert len(await servers.notifications(1, channel="chat", state="sent")) == 1


@pytest.mark.parametrize("trusted", [True, False])
async def test_a_mail_goes_over_tls_where_it_is_offered_and_in_clear_never_instead(
    authority: LoopbackAuthority, tmp_path_factory: pytest.TempPathFactory, trusted: bool
) -> None:
    issuer = authority if trusted else LoopbackAuthority(tmp_path_factory.mktemp("untrusted"))
    context = issuer.context("localhost")
    context.verify_mode = ssl.CERT_NONE

    async with mail_server(tls=context) as mails:
        mail = MailServer(host="localhost", port=mails.port)
        async with start_servers(authority, mail=mail) as servers:
            await servers.create_endpoint()
            await servers.broadcast()
            [entry] = await servers.notifications(1, channel="email")
            assert entry["state"] == ("sent" if trusted else "failed"), entry
            assert mails.secure == ([True] if trusted else [])


async def test_an_address_beyond_ascii_needs_a_server_that_accepts_it(
    authority: LoopbackAuthority,
) -> None:
    for supported, expected in ((True, "sent"), (False, "failed")):
        async with mail_server(enable_SMTPUTF8=supported) as mails:
            mail = MailServer(host="127.0.0.1", port=mails.port)
            async with start_servers(authority, mail=mail) as servers:
                await servers.create_endpoint(name="größe", support_email="größe@bücher.invalid")
                await servers.broadcast()
                [entry] = await servers.notifications(1, channel="email")
                assert (entry["state"], entry["attempts"]) == (expected, 1), entry
                recipients: list[Any] = [envelope.rcpt_tos for envelope in mails.envelopes]
                assert recipients == ([["größe@xn--bcher-kva.invalid"]] if supported else [])


async def test_without_a_mail_server_only_the_chat_is_notified(
    authority: LoopbackAuthority,
) -> None:
    """Unlike all others, this uses `hookproof serve` without --smtp."""
    async with (
        serving(answering(reply(500)), authority.context()) as failing,
        serving(always_ok, authority.context()) as chat,
        run_server(change=lambda _: dialect(retry=ONCE), ca_file=authority.file) as server,
    ):
        contacts = {"slack_webhook_url": chat.url, "support_email": "dev@receiver.invalid"}
        await server.create_endpoint(url=failing.url, **contacts)
        await server.call("createBroadcastEvent", body={"event_type": "t", "data": DATA})
        journal = await server.journal(kind="notifications", count="1", timeout="60")
        assert [entry["channel"] for entry in journal["notifications"]] == ["chat"]
