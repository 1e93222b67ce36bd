"""The mail server of the receiver: a mail to an issued token is a delivery to it."""

import smtplib

from tests.receiver.receiver_process import DEADLINE_S, ReceiverProcess, receiver, run

MAIL = b"From: service@example.org\r\nSubject: One\r\n\r\nAn endpoint fails.\r\n"


def send_mail(process: ReceiverProcess, *recipients: str) -> None:
    address = process.call(lambda client: client.mail()).address
    assert address is not None
    host, _, port = address.partition(":")
    with smtplib.SMTP(host, int(port), timeout=DEADLINE_S) as connection:
        connection.sendmail("service@example.org", recipients, MAIL)


def test_a_mail_to_a_token_is_a_delivery_to_it() -> None:
    with receiver("--mail", "127.0.0.1:0") as process:
        token, other = process.new_token(), process.new_token()
        send_mail(process, f"{token}@example.org")
        [delivery] = process.call(lambda client: client.deliveries(token))
        assert (delivery.method, delivery.path, delivery.status) == ("MAIL", f"/{token}", 250)
        assert delivery.header("subject") == "One"
        assert delivery.body.endswith(b"An endpoint fails.\r\n")
        assert process.call(lambda client: client.deliveries(other, timeout_s=0)) == ()


def test_mail_to_others_is_counted_and_not_kept() -> None:
    with receiver("--mail", "127.0.0.1:0") as process:
        token = process.new_token()
        send_mail(process, "somebody@example.org", f"{token}@example.org")
        send_mail(process, "somebody@example.org")
        assert len(process.call(lambda client: client.deliveries(token))) == 1
        assert process.call(lambda client: client.deliveries("somebody", timeout_s=0)) == ()
        assert process.call(lambda client: client.mail()).mails == 2


def test_mail_is_accepted_only_if_that_is_wanted() -> None:
    with receiver() as process:
        assert process.call(lambda client: client.mail()).address is None
    refused = run("receive", "--mail", "anywhere")
    assert (refused.returncode, "is not an address" in refused.stderr) == (64, True)
