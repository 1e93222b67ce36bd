"""Who is notified, of what, and how often (section 6, item 4), with a real chat and mail server."""

import asyncio
import json
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookproof.mockserver.delivery.store_port import Failure
from hookproof.mockserver.notifications.channels import parse_mailbox
from hookproof.mockserver.notifications.notice import (
    MAX_TEXT_LENGTH,
    NoticeKind,
    Wording,
    describe_outcome,
    one_line,
)
from tests.mockserver.delivery.endpoints import EndpointRequest, LoopbackAuthority, answering, reply
from tests.mockserver.delivery.engines import dialect
from tests.mockserver.notifications.notices import AT, notice, outcome
from tests.mockserver.notifications.scenario import ONCE, QUICK_LIMITS, start_servers

DISABLES_AT_ONCE: Mapping[str, Mapping[str, Any]] = {"retry": {**ONCE, "deactivate_after": 1}}


async def test_an_exhausted_delivery_sends_one_mail_and_one_chat_message(
    authority: LoopbackAuthority,
) -> None:
    async with start_servers(authority, groups={"retry": {**ONCE, "attempts": 2}}) as servers:
        endpoint = await servers.create_endpoint(name="orders", secret="signing-s3cret")
        await servers.broadcast()
        entries = await servers.notifications(2)
        assert sorted(
            (entry["channel"], entry["state"], entry["attempts"]) for entry in entries
        ) == [
            ("chat", "sent", 1),
            ("email", "sent", 1),
        ]
        assert {(entry["about"], entry["endpoint"], entry["project"]) for entry in entries} == {
            ("exhausted", endpoint["uid"], "one")
        }
        [text], [mail] = servers.chats(), servers.mails.messages
        for message in (text, mail.get_content()):
            assert "orders" in message
            assert endpoint["uid"] in message
            assert "order.paid" in message
            assert "after 2 attempts; the last one was answered with status 500." in message
        assert servers.mails.envelopes[0].rcpt_tos == ["dev@receiver.invalid"]
        assert servers.mails.envelopes[0].mail_from == mail["From"] == "hooks@sender.invalid"
        assert mail["To"] == "dev@receiver.invalid"
        assert mail["Subject"] == "Deliveries to endpoint orders fail"
        assert mail["Auto-Submitted"] == "auto-generated"
        [request] = servers.chat.arrived
        assert (request.method, request.target) == ("POST", "/hooks/T0/s3cret")
        assert request.header("Content-Type") == "application/json"


async def test_a_message_holds_no_secret_no_payload_and_no_url(
    authority: LoopbackAuthority,
) -> None:
    async with start_servers(authority) as servers:
        await servers.create_endpoint(
            secret="signing-s3cret",
            authentication={
                "type": "basic_auth",
                "basic_auth": {"username": "user", "password": "passw0rd"},
            },
        )
        await servers.broadcast()
        await servers.notifications(2)
        messages = [
            str(servers.mails.messages[0]),
            servers.chats()[0],
            str(servers.chat.arrived[0].headers),
        ]
        for secret in ("s3cret", "passw0rd", "4111-payload", "t0ken", "key-one", "https://"):
            assert not any(secret in message for message in messages), secret


async def test_a_delivery_that_succeeds_in_the_end_is_not_reported(
    authority: LoopbackAuthority,
) -> None:
    # The first delivery is answered 500 and 200, the second one 500 and 500.
    answers = answering(reply(500), reply(200), reply(500))
    async with start_servers(
        authority, answer=answers, groups={"retry": {**ONCE, "attempts": 2}}
    ) as servers:
        await servers.create_endpoint()
        await servers.broadcast()
        await servers.broadcast()
        [entry] = await servers.notifications(1, channel="chat")
        journal = await servers.server.journal(kind="deliveries", state="exhausted")
        [exhausted] = journal["deliveries"]
        assert entry["event"] == exhausted["event"]


async def test_only_the_contacts_that_an_endpoint_names_are_notified(
    authority: LoopbackAuthority,
) -> None:
    async with start_servers(authority) as servers:
        for contacts in (
            {"slack_webhook_url": ""},
            {"support_email": ""},
            {"slack_webhook_url": "", "support_email": ""},
        ):
            await servers.create_endpoint(**contacts)
        await servers.broadcast()
        assert sorted(entry["channel"] for entry in await servers.notifications(2)) == [
            "chat",
            "email",
        ]
        assert len(servers.chats()) == len(servers.mails.messages) == 1


async def test_a_chat_channel_takes_the_place_of_an_e_mail_where_the_dialect_says_so(
    authority: LoopbackAuthority,
) -> None:
    async with start_servers(
        authority, groups={"delivery": {"both_contacts": "chat_alone"}}
    ) as servers:
        await servers.create_endpoint()
        await servers.create_endpoint(slack_webhook_url="")
        await servers.broadcast()
        assert sorted(entry["channel"] for entry in await servers.notifications(2)) == [
            "chat",
            "email",
        ]
        assert len(servers.chats()) == len(servers.mails.messages) == 1


async def test_an_endpoint_that_is_disabled_has_its_change_of_state_reported_once(
    authority: LoopbackAuthority,
) -> None:
    async with start_servers(
        authority, groups={"retry": {**ONCE, "deactivate_after": 2}}
    ) as servers:
        endpoint = await servers.create_endpoint(name="orders")
        await servers.broadcast()
        assert await servers.status(endpoint["uid"]) == "active"
        await servers.broadcast()
        assert await servers.status(endpoint["uid"]) == "inactive"
        entries = await servers.notifications(4)
        assert [entry["about"] for entry in entries if entry["channel"] == "chat"] == [
            "exhausted",
            "state_change",
        ]
        for message in (
            servers.chats()[1],
            servers.mails.messages[1].get_content(),
        ):
            assert "went from active to inactive" in message
            assert "after 2 failed deliveries in a row" in message
        assert servers.mails.messages[1]["Subject"] == "Endpoint orders is now inactive"
        await servers.broadcast()
        assert len(servers.failing.arrived) == 2


async def test_an_endpoint_that_receives_while_disabled_changes_its_state_only_once(
    authority: LoopbackAuthority,
) -> None:
    groups = {**DISABLES_AT_ONCE, "delivery": {"visible_within_s": 0, "creation_visit": "none"}}
    async with start_servers(authority, groups=groups, extends="contrary") as servers:
        endpoint = await servers.create_endpoint()
        await servers.broadcast()
        shown = (await servers.server.call("getEndpoint", target=endpoint["uid"])).data
        assert shown["status"] == "paused"
        await servers.broadcast()
        assert len(servers.failing.arrived) == 2
        again = (await servers.server.call("getEndpoint", target=endpoint["uid"])).data
        assert again["updated_at"] == shown["updated_at"]
        assert len(await servers.notifications(1, channel="chat")) == 1
        assert len(servers.chats()) == 1


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("exhausted", ["exhausted", "exhausted"]),
        ("state_change", ["state_change"]),
        ("exhausted_or_state_change", ["exhausted", "state_change"]),
        ("never", []),
        ({"undecided": "who knows"}, []),
    ],
)
async def test_the_dialect_says_what_contacts_are_notified_of(
    authority: LoopbackAuthority, condition: Any, expected: list[str]
) -> None:
    groups = {"retry": {**ONCE, "deactivate_after": 2}, "delivery": {"notify_on": condition}}
    async with start_servers(
        authority, groups=groups, limits=replace(QUICK_LIMITS, window_s=0.0)
    ) as servers:
        await servers.create_endpoint()
        await servers.broadcast()
        await servers.broadcast()
        assert len(servers.failing.arrived) == 2
        kinds = [
            entry["about"] for entry in await servers.notifications(len(expected), channel="chat")
        ]
        assert kinds == expected
        assert len(servers.chats()) == len(expected)


async def test_an_endpoint_that_keeps_failing_is_reported_once_and_the_rest_with_the_next_message(
    authority: LoopbackAuthority,
) -> None:
    async with start_servers(authority, limits=replace(QUICK_LIMITS, window_s=3.0)) as servers:
        await servers.create_endpoint()
        await servers.broadcast(6)
        entries: list[dict[str, Any]] = []
        while sum(1 + entry["held_back"] for entry in entries) < 6:
            entries = await servers.notifications(len(entries) + 1, channel="chat")
        assert sum(1 + entry["held_back"] for entry in entries) == 6
        assert len(entries) < 6
        assert entries[0]["held_back"] == 0
        [message] = [text for text in servers.chats() if "held back" in text][:1]
        assert f"{entries[1]['held_back']} like it" in message


async def test_two_endpoints_do_not_share_a_rate_limit(authority: LoopbackAuthority) -> None:
    async with start_servers(authority) as servers:
        endpoints = {(await servers.create_endpoint())["uid"] for _ in range(3)}
        await servers.broadcast(2)
        assert {
            entry["endpoint"] for entry in await servers.notifications(3, channel="chat")
        } == endpoints
        assert len(servers.chats()) == 3


async def test_the_state_and_the_count_of_failures_outlive_the_server(
    authority: LoopbackAuthority, tmp_path: Path
) -> None:
    options = {
        "groups": {"retry": {**ONCE, "deactivate_after": 2}},
        "path": str(tmp_path / "hooks.db"),
    }

    async with start_servers(authority, **options) as first:
        uids = [(await first.create_endpoint(name=name))["uid"] for name in ("a", "b")]
        await first.broadcast()
        await first.notifications(4)
    # The endpoints point at the port of the first scenario, which is closed by now, so that
    # their deliveries fail.
    async with start_servers(authority, **options) as second:
        assert [await second.status(uid) for uid in uids] == ["active"] * 2
        await second.broadcast()
        assert [await second.status(uid) for uid in uids] == ["inactive"] * 2
        entries = await second.notifications(2, channel="email", state="sent")
        assert {entry["about"] for entry in entries} == {"state_change"}
    async with start_servers(authority, **options) as third:
        assert [await third.status(uid) for uid in uids] == ["inactive"] * 2
        before = len((await third.server.journal(kind="deliveries"))["deliveries"])
        await third.broadcast()
        assert len((await third.server.journal(kind="deliveries"))["deliveries"]) == before


async def test_a_delivery_in_between_starts_the_count_anew(authority: LoopbackAuthority) -> None:
    answers = answering(reply(500), reply(200), reply(500))
    async with start_servers(
        authority, answer=answers, groups={"retry": {**ONCE, "deactivate_after": 2}}
    ) as servers:
        endpoint = await servers.create_endpoint()
        for _ in range(3):
            await servers.broadcast()
        assert await servers.status(endpoint["uid"]) == "active"
        await servers.broadcast()
        assert await servers.status(endpoint["uid"]) == "inactive"


async def test_contacts_that_a_dialect_masks_are_notified_too(authority: LoopbackAuthority) -> None:
    async with start_servers(
        authority, groups={"representation": {"masked": ["slack_webhook_url", "support_email"]}}
    ) as servers:
        endpoint = await servers.create_endpoint()
        assert endpoint["slack_webhook_url"] == endpoint["support_email"] == "********"
        await servers.broadcast()
        assert {entry["state"] for entry in await servers.notifications(2)} == {"sent"}


async def test_a_reset_discards_what_is_unsent_and_the_journal(
    authority: LoopbackAuthority,
) -> None:
    waiting = asyncio.Event()

    async def hang(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
        waiting.set()
        await asyncio.Event().wait()

    async with start_servers(authority, chat=hang) as servers:
        await servers.create_endpoint()
        await servers.broadcast()
        await servers.notifications(1, channel="email")
        async with asyncio.timeout(60):
            await waiting.wait()
        await servers.server.reset()
        assert (await servers.server.journal(kind="notifications"))["notifications"] == []
        await servers.create_endpoint(slack_webhook_url="")
        await servers.broadcast()
        assert [entry["channel"] for entry in await servers.notifications(1)] == ["email"]


async def test_metrics_count_notifications_and_what_was_held_back(
    authority: LoopbackAuthority,
) -> None:
    async with start_servers(authority) as servers:
        await servers.create_endpoint()
        await servers.broadcast(3)
        await servers.notifications(2)
        async with servers.server.session.get(f"{servers.server.control}/metrics") as response:
            text = await response.text()
        assert 'hookproof_notifications_total{channel="chat",state="sent"} 1.0' in text
        assert 'hookproof_notifications_total{channel="email",state="sent"} 1.0' in text
        assert "hookproof_notifications_held_back_total 2.0" in text


async def test_a_hostile_name_forges_neither_a_header_nor_a_mention(
    authority: LoopbackAuthority,
) -> None:
    name = (
        "x\r\nBcc: victim@elsewhere.invalid\r\n\r\nnew body \u202etxet\u2028"
        "<!channel> <https://evil.invalid|click> & " + "y" * 500
    )

    async with start_servers(authority) as servers:
        await servers.create_endpoint(name=name)
        await servers.broadcast()
        assert {entry["state"] for entry in await servers.notifications(2)} == {"sent"}
        [mail], [text] = servers.mails.messages, servers.chats()
        assert servers.mails.envelopes[0].rcpt_tos == ["dev@receiver.invalid"]
        assert "Bcc" not in mail
        assert len(mail.keys()) == len(set(mail.keys()))
        assert not {"\r", "\n", "\u202e", "\u2028"} & set(mail["Subject"] + text.split(": at ")[0])
        assert len(mail["Subject"]) < 200
        assert "<" not in text
        assert "&lt;!channel&gt;" in text
        assert json.dumps(text).count("\\n") == 0


@pytest.mark.parametrize(
    "address",
    [
        "dev@receiver.invalid\r\nRCPT TO:<victim@elsewhere.invalid>",
        "dev@receiver.invalid\nBcc: victim@elsewhere.invalid",
        "dev@receiver.invalid, victim@elsewhere.invalid",
        "Dev <dev@receiver.invalid>",
        "<dev@receiver.invalid> NOTIFY=NEVER",
        "dev\x1b@receiver.invalid",
        "dev@[127.0.0.1]",
        "@receiver.invalid",
        "dev",
    ],
)
async def test_a_hostile_address_gets_no_mail_and_reaches_no_mail_server(
    authority: LoopbackAuthority, address: str
) -> None:
    async with start_servers(authority) as servers:
        await servers.create_endpoint(support_email=address)
        await servers.broadcast()
        [entry] = await servers.notifications(1, channel="email")
        assert (entry["state"], entry["attempts"]) == ("failed", 1)
        assert entry["detail"] == "the support_email is not an e-mail address"
        assert servers.mails.rcpt_commands == 0
        assert len(await servers.notifications(1, channel="chat", state="sent")) == 1


WORDING = Wording(dialect(retry={"deactivate_after": 3}), 60.0)


def test_a_message_says_which_delivery_was_given_up_when_and_why() -> None:
    [line] = WORDING.lines(notice())
    assert line == (
        "Endpoint orders (E1) of project p1: at 2027-01-15 08:00:00 UTC the delivery of event V1"
        " (order.paid) was given up after 5 attempts; the last one was answered with status 500."
    )
    assert WORDING.subject(notice()) == "Deliveries to endpoint orders fail"


def test_a_change_of_state_is_reported_in_the_dialect_s_words() -> None:
    contrary = Wording(dialect("contrary"), 60.0)
    assert contrary.subject(notice(kind=NoticeKind.STATE_CHANGE)) == "Endpoint orders is now paused"
    [line] = contrary.lines(notice(kind=NoticeKind.STATE_CHANGE, outcome=outcome(number=1)))
    assert (
        "went from live to paused at 2027-01-15 08:00:00 UTC, after 3 failed deliveries in a row"
        in line
    )
    assert "after 1 attempt;" in line


def test_what_was_held_back_is_reported_in_a_line_of_its_own() -> None:
    lines = WORDING.lines(notice(held_back=2, held_since=AT - 30))
    assert (
        lines[1] == "2 like it were held back since 2027-01-15 07:59:30 UTC: one in 60 s is sent."
    )


def test_an_endpoint_without_a_name_is_called_by_its_uid() -> None:
    for name in (None, "", "\u200b"):
        assert WORDING.subject(notice(name=name)) == "Deliveries to endpoint E1 fail"


@pytest.mark.parametrize("failure", list(Failure))
def test_a_failure_is_reported_without_its_detail(failure: Failure) -> None:
    text = describe_outcome(outcome(status=None, failure=failure))
    assert text
    assert "s3cret" not in text


@given(st.text())
def test_a_line_is_short_and_holds_only_what_can_be_seen(text: str) -> None:
    line = one_line(text)
    assert len(line) <= MAX_TEXT_LENGTH
    assert len(line.splitlines()) <= 1
    assert not [
        char for char in line if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    ]
    assert one_line(line) == line


@given(st.text(min_size=1), st.text(min_size=1))
def test_what_passes_as_an_address_ends_no_header_and_no_command(local: str, domain: str) -> None:
    try:
        address = parse_mailbox(f"{local}@{domain}")
    except ValueError:
        return
    assert not set(" \t\r\n<>,;") & set(address.addr_spec)
    assert str(address).isprintable()


@pytest.mark.parametrize(
    "text",
    ["dev@receiver.invalid", "first.last+tag@a-b.example", "x@localhost", "größe@bücher.invalid"],
)
def test_an_ordinary_address_passes(text: str) -> None:
    assert parse_mailbox(text).username == text.partition("@")[0]
