"""Deliveries for tests, without a receiver."""

from hookproof.receiver.inbox.delivery import ReceivedDelivery


def make_delivery(
    *,
    token: str = "orders",  # noqa: S107 - it names a place to deliver to
    sequence: int = 1,
    method: str = "POST",
    path: str = "/orders",
    headers: tuple[tuple[str, str], ...] = (("Host", "x"), ("Content-Length", "2")),
    body: bytes = b"{}",
) -> ReceivedDelivery:
    return ReceivedDelivery(
        token=token,
        sequence=sequence,
        method=method,
        path=path,
        headers=headers,
        body=body,
        arrived_at=1735689600.25,
        arrived_monotonic=10.5,
        completed_monotonic=None,
        peer_port=40000,
        client_certificate=None,
        status=None,
    )
